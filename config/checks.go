package config

import "encoding/json"

// Switches are the checks that the settings speak of, by name.
func (c Checks) Switches() map[string]bool {
	data, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	var out map[string]bool
	_ = json.Unmarshal(data, &out) // it was made of nothing but switches
	return out
}
