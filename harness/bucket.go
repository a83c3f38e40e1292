package harness

import (
	"cmp"
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/model/aws"
	"github.com/lathe-agent/lathe/store/s3"
)

// openBlobs returns the large values in a bucket. Credentials, region and endpoint come from where
// Amazon's tools have them.
func (a *Host) openBlobs(at datadir.Folders, bucket string) (*s3.Bucket, error) {
	return s3.Open(s3.Options{
		URL: bucket, Endpoint: cmp.Or(a.Env("AWS_ENDPOINT_URL_S3"), a.Env("AWS_ENDPOINT_URL")),
		Sign: func(region string) (s3.Signer, error) {
			return aws.Open(aws.Config{Service: "s3", Region: region, Env: a.Env, Home: a.Home()})
		},
		Cache: at.BlobCache(), Log: a.Log,
	})
}

// checkBlobs makes sure that a bucket can be used. One that is only unreachable now is no reason not to start.
func (a *Host) checkBlobs(ctx context.Context, b *s3.Bucket) error {
	err := b.Check(ctx)
	if lathe.CodeOf(err) == lathe.Unavailable {
		a.Notify("Warning: %v", err)
		return nil
	}
	return err
}
