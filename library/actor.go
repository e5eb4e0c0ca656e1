package library

import "slices"

// Permission is what a credential may do.
type Permission string

// The permissions. Every API key carries read, but one that has PermIngest alone.
const (
	PermRead   Permission = "read"   // view assets, collections, details
	PermSearch Permission = "search" // search and facets
	PermWrite  Permission = "write"  // add and update assets, tags, collections
	PermExport Permission = "export" // content may leave the workspace
	PermAdmin  Permission = "admin"  // run pipelines, register webhooks, trash
	// PermIngest adds assets from ComfyUI and does nothing else. A key that has it alone does
	// not even read: such keys lie beside workflows. PermWrite includes it.
	PermIngest Permission = "comfy-ingest"
)

// Permissions lists every permission in the order documents show them.
var Permissions = []Permission{PermRead, PermSearch, PermWrite, PermExport, PermAdmin, PermIngest}

// ActorKind is the kind of credential by which an actor came in.
type ActorKind string

// The kinds of actor.
const (
	ActorKey    ActorKind = "key"    // an API key
	ActorRule   ActorKind = "rule"   // an automation rule, which an admin made
	ActorSystem ActorKind = "system" // the service itself: relay, reconciler, command line with database access
)

// Actor is who acts: the principal of a request, already bound to one tenant.
type Actor struct {
	Kind        ActorKind
	ID          string // key id, or the name of the system part
	Name        string // for people
	Tenant      TenantID
	Tenants     []TenantID // the tenants this credential may choose, the default first
	TenantNamed bool       // the request named Tenant in a header
	Permissions []Permission
}

// SeesAll reports whether the actor sees every asset of its tenant, private ones of
// others among them: the service itself, and credentials with PermAdmin.
func (a Actor) SeesAll() bool { return a.Kind == ActorSystem || a.Can(PermAdmin) }

// Sees reports whether the actor sees an asset of its tenant.
func (a Actor) Sees(x Asset) bool {
	return x.Visibility != VisibilityPrivate || a.SeesAll() || a.Owns(x)
}

// Owns reports whether an asset is the actor's. An asset without an owner is nobody's.
func (a Actor) Owns(x Asset) bool { return a.ID != "" && x.Owner == a.ID }

// MayShare reports whether the actor may change whose an asset is and who sees it:
// what is nobody's may be taken by everybody who sees it.
func (a Actor) MayShare(x Asset) bool { return a.SeesAll() || x.Owner == "" || a.Owns(x) }

// Can reports whether the actor holds a permission.
func (a Actor) Can(p Permission) bool {
	return slices.Contains(a.Permissions, p) || p == PermIngest && slices.Contains(a.Permissions, PermWrite)
}

// CarriesRead reports whether a credential with these permissions reads too.
func CarriesRead(permissions []Permission) bool {
	return len(permissions) == 0 || slices.ContainsFunc(permissions, func(p Permission) bool { return p != PermIngest })
}
