package server

// Routes of features that lathe does not have return the empty value. Each of these
// routes stands in docs/http-differences.md with its reason.

func emptyRoutes() []row {
	list := func(path, name, summary string) row {
		return answer(route("GET "+path, name, "instance", summary, []failure{failsBad}), nothing)
	}
	return []row{
		list("/lsp", "lsp.status", "List the running language servers"),
		list("/formatter", "formatter.status", "List the formatters"),
	}
}

// nothing is an empty list. The directory must be one.
func nothing(c *call, _, _ none) ([]object, error) {
	_, _, err := c.place()
	return nil, err
}
