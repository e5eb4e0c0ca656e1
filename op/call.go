package op

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"vitrine/library"
)

// Call runs one operation for an actor: permission, tenant, defaults, schema,
// cross-field rules, then the work. It takes ownership of args. Every error it
// returns is a *library.Fault.
func (o Operation) Call(ctx context.Context, actor library.Actor, args map[string]any) (any, error) {
	if !actor.Can(o.Permission) {
		return nil, &library.Fault{Kind: library.KindForbidden, Code: library.CodePermissionRequired, Permission: o.Permission,
			Detail: "This credential lacks the permission " + string(o.Permission) + ", which " + o.Name + " needs. Use a key that has it."}
	}
	normalize(o.Input, args)
	if faults := validate(o.Input, args); len(faults) > 0 {
		return nil, library.Invalid(faults...)
	}
	actor, err := chooseTenant(actor, args)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, library.AsFault(err)
	}
	out, err := o.call(ctx, actor, raw)
	if err != nil {
		return nil, library.AsFault(err)
	}
	return out, nil
}

// chooseTenant binds the actor to the tenant that the arguments name, if they do.
func chooseTenant(actor library.Actor, args map[string]any) (library.Actor, error) {
	sent, _ := args["tenant_id"].(string)
	if sent == "" {
		return actor, nil
	}
	t := library.TenantID(strings.ToLower(sent))
	if t != actor.Tenant && !slices.Contains(actor.Tenants, t) {
		return actor, library.NotFound("tenant reachable with this credential")
	}
	actor.Tenant = t
	return actor, nil
}
