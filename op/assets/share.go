package assets

import (
	"context"

	"vitrine/library"
)

// me names the calling credential where an owner is expected.
const me = "me"

// share is a change of whose an asset is and who sees it; nil leaves a side as it is.
type share struct {
	owner      *string
	visibility *library.Visibility
}

// readShare reads what an update asks for. Owners are keys that reach the tenant.
func (s *Service) readShare(ctx context.Context, actor library.Actor, owner, visibility *string) (share, error) {
	var out share
	if visibility != nil {
		v := library.Visibility(*visibility)
		out.visibility = &v
	}
	if owner == nil {
		return out, nil
	}
	name := *owner
	if name == me {
		name = actor.ID
	} else if name != "" {
		_, good, err := s.Store.Keys.LinkActor(ctx, actor.Tenant, name)
		if err != nil {
			return out, err
		}
		if !good {
			return out, library.Invalid(library.FieldError{Field: "owner", Code: "unknown", Message: "No key of this tenant has this id, or it was revoked.",
				Hint: "Send me, a key_id, or an empty string for nobody."})
		}
	}
	out.owner = &name
	return out, nil
}

// apply changes an asset, unless the actor may not.
func (c share) apply(actor library.Actor, a *library.Asset) error {
	if c.owner == nil && c.visibility == nil {
		return nil
	}
	if !actor.MayShare(*a) {
		return library.NewError(library.KindForbidden, library.CodeNotOwner,
			"Only the asset's owner or a key with the permission admin changes its owner and visibility. Nothing was changed.")
	}
	if c.owner != nil {
		a.Owner = *c.owner
	}
	if c.visibility != nil {
		a.Visibility = *c.visibility
	}
	if a.Visibility == library.VisibilityPrivate && a.Owner == "" {
		if c.owner != nil {
			return library.Invalid(library.FieldError{Field: "owner", Code: "conflict", Message: "A private asset needs an owner.", Hint: "Send me, or another visibility."})
		}
		a.Owner = actor.ID // nobody's: who hides it takes it
	}
	return nil
}

// mergePatch applies a JSON merge patch (RFC 7396) to metadata: null removes a name, an
// object changes the one that is there, anything else replaces.
func mergePatch(to, patch map[string]any) map[string]any {
	out := make(map[string]any, len(to)+len(patch))
	for name, v := range to {
		out[name] = v
	}
	for name, v := range patch {
		inner, isObject := v.(map[string]any)
		switch {
		case v == nil:
			delete(out, name)
		case isObject:
			old, _ := out[name].(map[string]any)
			out[name] = mergePatch(old, inner)
		default:
			out[name] = v
		}
	}
	return out
}
