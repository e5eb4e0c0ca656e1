package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// builtin are the hosts that files are fetched from without being configured: generation
// services whose results are files behind a URL, and where people share them.
var builtin = []string{
	"cloud.comfy.org", "*.comfy.org", // the workflow cloud
	"cdn.midjourney.com",           // the image tool's CDN
	"civitai.com", "*.civitai.com", // the model-sharing site
	"fal.media", "*.fal.media",
	"replicate.delivery", "*.replicate.delivery",
}

// bucket matches the virtual-hosted address of a bucket of Amazon S3. Anybody can own one:
// what comes from there is as hostile as any upload.
var bucket = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\.s3([.-](dualstack\.)?[a-z]{2}(-[a-z]+){1,3}-[0-9])?\.amazonaws\.com$`)

// lapses reports whether the URLs of a host end an hour after they were made: the host then
// answers as if there never was such a file.
func lapses(host string) bool {
	return match("*.replicate.delivery", host) || host == "replicate.delivery"
}

// hosts is the list of hosts, each a name or a suffix that begins with "*.".
type hosts []string

func newHosts(more []string) (hosts, error) {
	list := slices.Clone(builtin)
	for _, entry := range more {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		name, below := strings.CutPrefix(entry, "*.")
		host, err := canonical(name)
		if err != nil || !strings.Contains(host, ".") {
			return nil, fmt.Errorf("%q is not a host that files can be fetched from; write media.example.com, or *.example.com for every host below it", entry)
		}
		if below {
			host = "*." + host
		}
		list = append(list, host)
	}
	return list, nil
}

func match(pattern, host string) bool {
	if suffix, ok := strings.CutPrefix(pattern, "*"); ok {
		return len(host) > len(suffix) && strings.HasSuffix(host, suffix)
	}
	return pattern == host
}

func (h hosts) allow(host string) bool {
	return bucket.MatchString(host) || slices.ContainsFunc(h, func(pattern string) bool { return match(pattern, host) })
}

// hostName matches what name servers know: labels of ASCII letters, digits and hyphens.
var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)

// canonical returns a host's name as name servers know it. An address is no name, in
// whatever form it is written.
func canonical(host string) (string, error) {
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil {
		return "", err
	}
	name = strings.ToLower(name)
	_, numeric := strconv.ParseUint(name[strings.LastIndexByte(name, '.')+1:], 0, 64) // 127.1, 2130706433, 0x7f000001
	if _, isAddress := netip.ParseAddr(name); isAddress == nil || numeric == nil || len(name) > 253 || !hostName.MatchString(name) {
		return "", errors.New("not the name of a host")
	}
	return name, nil
}

// Check parses a URL and returns it in canonical form, or the error URL_FORBIDDEN_HOST when
// nothing may be fetched from it. It connects to nothing.
func (f *Fetcher) Check(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Scheme != "https" || u.Opaque != "" || u.Host == "":
		return nil, forbidden(nil, "it is not an https URL")
	case u.User != nil:
		return nil, forbidden(nil, "it contains a user name")
	case u.Port() != "" && u.Port() != strconv.Itoa(int(f.port)), strings.HasSuffix(u.Host, ":"):
		return nil, forbidden(nil, "it names a port")
	}
	host, err := canonical(u.Hostname())
	if err != nil || !f.hosts.allow(host) {
		return nil, forbidden(err, "its host is not among those that files are fetched from")
	}
	if u.Host = host; f.port != 443 {
		u.Host += ":" + strconv.Itoa(int(f.port))
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}
