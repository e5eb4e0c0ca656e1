package library

import "slices"

// Permission is what a credential may do.
type Permission string

// The permissions. Every API key carries read.
const (
	PermRead   Permission = "read"   // view assets, collections, details
	PermSearch Permission = "search" // search and facets
	PermWrite  Permission = "write"  // add and update assets, tags, collections
	PermExport Permission = "export" // content may leave the workspace
	PermAdmin  Permission = "admin"  // run pipelines, register webhooks, trash
)

// Permissions lists every permission in the order documents show them.
var Permissions = []Permission{PermRead, PermSearch, PermWrite, PermExport, PermAdmin}

// ActorKind tells by what kind of credential an actor came in.
type ActorKind string

// The kinds of actor.
const (
	ActorKey    ActorKind = "key"    // an API key
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

// Can reports whether the actor holds a permission.
func (a Actor) Can(p Permission) bool { return slices.Contains(a.Permissions, p) }
