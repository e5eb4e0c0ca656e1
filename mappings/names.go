package mappings

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"vitrine/library"
)

// IndexNames names the alias and the indices of one kind in one deployment: of the index that
// tenants share, or of the one of a large tenant. Deployments, and tests, that share a
// cluster differ by prefix.
type IndexNames struct {
	prefix, kind string
	version      int
}

// Names returns the names of the indices of assets under a prefix.
func Names(prefix string) IndexNames { return AssetIndex().Names(prefix) }

// Names returns the names under a prefix, which may be empty and otherwise is
// lower case, as index names are.
func (ix *Index) Names(prefix string) IndexNames {
	return IndexNames{prefix: prefix, kind: ix.Name, version: ix.Version}
}

// Own returns the names for the index of one tenant's assets.
func (n IndexNames) Own(tenant library.TenantID) IndexNames {
	return IndexNames{prefix: n.prefix, kind: "own-" + string(tenant), version: n.version}
}

// Alias is what searches read: it points at exactly one index.
func (n IndexNames) Alias() string { return n.prefix + n.kind }

// Index names the index of one generation of this mapping version; generations
// count up with every rebuild.
func (n IndexNames) Index(generation int) string {
	return fmt.Sprintf("%s%s-v%d-%d", n.prefix, n.kind, n.version, generation)
}

// Writer is the alias by which an index is written. It goes with its index: a write
// to an index that somebody deleted then fails, where OpenSearch would else make an
// index of that name with a mapping of its own.
func Writer(index string) string { return index + ".writer" }

// Displaced names the index that takes what somebody else put under the name of the
// alias.
func (n IndexNames) Displaced(at time.Time) string {
	return n.prefix + n.kind + "-displaced-" + at.UTC().Format("20060102t150405.000000000")
}

// Pattern matches every index of this prefix, of any version and generation.
func (n IndexNames) Pattern() string { return n.prefix + n.kind + "-v*" }

// Parse takes an index name apart. ok is false for a name that is not of this prefix.
func (n IndexNames) Parse(index string) (version, generation int, ok bool) {
	rest, ok := strings.CutPrefix(index, n.prefix+n.kind+"-v")
	if !ok {
		return 0, 0, false
	}
	v, g, ok := strings.Cut(rest, "-")
	if !ok {
		return 0, 0, false
	}
	version, err1 := strconv.Atoi(v)
	generation, err2 := strconv.Atoi(g)
	return version, generation, err1 == nil && err2 == nil
}

// DocID is the identifier of an asset's document. The tenant is part of it: two
// tenants that hold the same bytes have two documents.
func DocID(tenant library.TenantID, h library.AssetHash) string { return DocumentID(tenant, string(h)) }

// DocumentID is DocID for a document of any index.
func DocumentID(tenant library.TenantID, key string) string { return string(tenant) + ":" + key }

// Routing is the routing value of every document and every search of a tenant.
func Routing(tenant library.TenantID) string { return string(tenant) }
