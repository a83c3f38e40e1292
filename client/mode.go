package client

import "context"

// PermissionMode is the permission mode that counts in a directory; "" is the default.
func (c *Client) PermissionMode(ctx context.Context, dir string) (string, error) {
	var settings struct {
		Mode string `json:"permission_mode"`
	}
	err := c.call(ctx, request{method: "GET", path: "/config", directory: dir, to: &settings})
	return settings.Mode, err
}

// SetPermissionMode changes the permission mode in the config of the server's user.
func (c *Client) SetPermissionMode(ctx context.Context, mode string) error {
	change := struct {
		Mode string `json:"permission_mode"`
	}{mode}
	return c.call(ctx, request{method: "PATCH", path: "/global/config", body: change})
}
