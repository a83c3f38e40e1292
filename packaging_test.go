package lathe_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/goccy/go-yaml"
)

// chart renders the templates of the Helm chart with the functions that they use, as Helm does.
func chart(t *testing.T, change func(values map[string]any)) (map[string]map[string]any, error) {
	t.Helper()
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(readRepositoryFile(t, "packaging/helm/lathe/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	change(values)
	funcs := template.FuncMap{
		"quote": func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"toJson": func(v any) (string, error) {
			b, err := json.Marshal(v)
			return string(b), err
		},
		"fail": func(text string) (string, error) { return "", errors.New(text) },
	}
	files, err := filepath.Glob("packaging/helm/lathe/templates/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d templates (%v)", len(files), err)
	}
	out := map[string]map[string]any{}
	for _, file := range files {
		tmpl, err := template.New(file).Option("missingkey=error").Funcs(funcs).Parse(readRepositoryFile(t, file))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := tmpl.Execute(&text, map[string]any{"Values": values, "Release": map[string]any{"Name": "7", "Namespace": "tools"}}); err != nil {
			return nil, err
		}
		object := map[string]any{}
		if err := yaml.UnmarshalWithOptions([]byte(text.String()), &object, yaml.Strict()); err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v\n%s", file, err, text.String())
		}
		if len(object) > 0 {
			out[fmt.Sprint(object["kind"])] = object
		}
	}
	return out, nil
}

// valueAt follows names and indexes into a YAML value.
func valueAt(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func TestPackaging_Chart(t *testing.T) {
	objects, err := chart(t, func(v map[string]any) {
		v["image"], v["blobs"], v["hosts"] = "r/lathe:1", "s3://b/p", []string{"lathe.example.org"}
		v["resources"] = map[string]any{"limits": map[string]any{"cpu": 2}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if objects["HorizontalPodAutoscaler"] != nil {
		t.Error("the autoscaler is not asked for")
	}
	for kind, object := range objects {
		if name, isText := valueAt(object, "metadata", "name").(string); !isText {
			t.Errorf("the name of the %s is %v, which is no text", kind, name)
		}
	}
	pod := valueAt(objects["Deployment"], "spec", "template", "spec")
	box := valueAt(pod, "containers", 0)
	for _, c := range []struct{ got, want any }{
		{valueAt(objects["PersistentVolumeClaim"], "spec", "accessModes", 0), "ReadWriteMany"},
		{valueAt(objects["PersistentVolumeClaim"], "metadata", "name"), valueAt(pod, "volumes", 0, "persistentVolumeClaim", "claimName")},
		{valueAt(objects["PodDisruptionBudget"], "spec", "maxUnavailable"), uint64(1)},
		{valueAt(objects["PodDisruptionBudget"], "spec", "selector"), valueAt(objects["Deployment"], "spec", "selector")},
		{valueAt(objects["Service"], "spec", "selector"), valueAt(objects["Deployment"], "spec", "template", "metadata", "labels")},
		{valueAt(objects["Job"], "metadata", "annotations", "helm.sh/hook"), "pre-install,pre-upgrade"},
		{valueAt(objects["Deployment"], "spec", "replicas"), uint64(3)},
		{valueAt(pod, "terminationGracePeriodSeconds"), uint64(90)},
		{valueAt(box, "readinessProbe", "httpGet", "path"), "/lathe/ready"},
		{valueAt(box, "livenessProbe", "httpGet", "path"), "/lathe/live"},
		{valueAt(box, "volumeMounts", 0, "mountPath"), "/work"},
		{valueAt(box, "resources"), map[string]any{"limits": map[string]any{"cpu": uint64(2)}}},
		{valueAt(box, "volumeMounts", 1, "mountPath"), valueAt(box, "env", 0, "value")},
		{valueAt(box, "volumeMounts", 1, "name"), "place"},
	} {
		if fmt.Sprint(c.got) != fmt.Sprint(c.want) || c.got == nil {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	args := fmt.Sprint(valueAt(box, "args"))
	for _, want := range []string{"serve", "--place=work=/work", "--place=trees=/data/lathe-worktrees", "--allow-host=lathe.example.org", "--allow-host=7.tools.svc.cluster.local", "--node-addr=http://$(POD_IP):4096"} {
		if !strings.Contains(args, want) {
			t.Errorf("no %s in %s", want, args)
		}
	}
	for _, missing := range []string{"image", "blobs"} {
		_, err := chart(t, func(v map[string]any) { v["image"], v["blobs"] = "r/lathe:1", "s3://b/p"; v[missing] = "" })
		if err == nil || !strings.Contains(err.Error(), "set "+missing) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
	scaled, err := chart(t, func(v map[string]any) {
		v["image"], v["blobs"] = "r/lathe:1", "s3://b/p"
		v["autoscaling"].(map[string]any)["enabled"] = true
	})
	if err != nil || valueAt(scaled["Deployment"], "spec", "replicas") != nil || valueAt(scaled["HorizontalPodAutoscaler"], "spec", "maxReplicas") == nil {
		t.Errorf("an autoscaler and fixed replicas do not fit (%v)", err)
	}
}

// Helm itself reads the chart where it is installed.
func TestPackaging_HelmLint(t *testing.T) {
	if _, err := exec.LookPath("helm"); err != nil {
		t.Skip("helm is not installed")
	}
	out, err := exec.Command("helm", "lint", "--strict", "--set", "image=r/lathe:1,blobs=s3://b/p", "packaging/helm/lathe").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestPackaging_Compose(t *testing.T) {
	file := map[string]any{}
	if err := yaml.UnmarshalWithOptions([]byte(readRepositoryFile(t, "packaging/cluster/compose.yaml")), &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	services, _ := file["services"].(map[string]any)
	caddy := readRepositoryFile(t, "packaging/cluster/Caddyfile")
	nodes := 0
	for name, service := range services {
		if strings.HasSuffix(fmt.Sprint(valueAt(service, "image")), ":latest") || valueAt(service, "image") == nil {
			t.Errorf("%s has no version of its image", name)
		}
		for dependency := range toMap(valueAt(service, "depends_on")) {
			if services[dependency] == nil {
				t.Errorf("%s depends on %s, which is missing", name, dependency)
			}
		}
		for _, v := range toList(valueAt(service, "volumes")) {
			volume, _, _ := strings.Cut(fmt.Sprint(v), ":")
			if _, ok := toMap(file["volumes"])[volume]; !ok && !strings.HasPrefix(volume, "./") {
				t.Errorf("%s uses the volume %s, which is missing", name, volume)
			}
		}
		if !strings.HasPrefix(name, "lathe") {
			continue
		}
		if nodes++; !strings.Contains(caddy, name+":4096") {
			t.Errorf("the Caddyfile does not have %s", name)
		}
		if !slices.Contains(toList(valueAt(service, "command")), any("--place")) || valueAt(service, "environment", "LATHE_STORE") == nil || valueAt(service, "environment", "LATHE_BUS") == nil {
			t.Errorf("%s is not a node of the cluster: %v", name, service)
		}
	}
	if nodes != 3 {
		t.Errorf("%d nodes", nodes)
	}
	// The comment at the top sets every variable that must be set.
	text := readRepositoryFile(t, "packaging/cluster/compose.yaml")
	usage, _, _ := strings.Cut(text, "x-node:")
	for _, m := range regexp.MustCompile(`\$\{(\w+):\?`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(usage, m[1]+"=") {
			t.Errorf("the comment does not set %s", m[1])
		}
	}
	// Every secret is asked for: none has a default.
	for _, m := range regexp.MustCompile(`\$\{(\w*(?:PASSWORD|SECRET)\w*)(:?\W)`).FindAllStringSubmatch(text, -1) {
		if m[2] != ":?" {
			t.Errorf("%s has a default", m[1])
		}
	}
}

func toMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func toList(v any) []any {
	l, _ := v.([]any)
	return l
}

// Every metric of the dashboard exists in the program.
func TestPackaging_Dashboard(t *testing.T) {
	text := readRepositoryFile(t, "packaging/grafana/lathe.json")
	var board struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
			GridPos struct{ X, Y, W, H int }
		}
	}
	if err := json.Unmarshal([]byte(text), &board); err != nil || board.Title == "" || len(board.Panels) < 8 {
		t.Fatalf("%d panels (%v)", len(board.Panels), err)
	}
	written := ""
	for _, dir := range []string{"bus/nats", "engine", "engine/events", "engine/telemetry", "server", "store", "store/postgres", "harness", "sandbox"} {
		files, _ := filepath.Glob(dir + "/*.go")
		for _, f := range files {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			written += string(src)
		}
	}
	for _, p := range board.Panels {
		if len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %q shows nothing or is outside", p.Title)
		}
		for _, target := range p.Targets {
			for _, name := range regexp.MustCompile(`lathe_\w+`).FindAllString(target.Expr, -1) {
				name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
				if !strings.Contains(written, `"`+name+`"`) {
					t.Errorf("panel %q asks for %s, which no code writes", p.Title, name)
				}
			}
		}
	}
}
