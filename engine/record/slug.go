package record

import "github.com/lathe-agent/lathe"

// Words for slugs: names for people, never unique.
var (
	adjectives = [...]string{
		"amber", "brisk", "calm", "copper", "crisp", "dapper", "eager", "fleet", "gentle", "hazel", "indigo", "jolly",
		"keen", "linen", "lucid", "mellow", "nimble", "olive", "placid", "quick", "rustic", "sage", "tidy", "upbeat", "vivid", "warm",
	}
	nouns = [...]string{
		"anvil", "basin", "beacon", "bobbin", "canyon", "chisel", "delta", "ember", "fjord", "gable", "grove", "harbor", "inlet",
		"kiln", "ledge", "meadow", "mill", "orchard", "pivot", "quarry", "reef", "spindle", "summit", "thicket", "valley", "willow",
	}
)

// slug picks two words by the random end of a fresh id.
func slug(ids *lathe.IDs) string {
	id := ids.New(lathe.PrefixTool)
	a, b := int(id[len(id)-1])*61+int(id[len(id)-2]), int(id[len(id)-3])*61+int(id[len(id)-4])
	return adjectives[a%len(adjectives)] + "-" + nouns[b%len(nouns)]
}
