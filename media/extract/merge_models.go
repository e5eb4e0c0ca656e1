package extract

import (
	"slices"
	"strings"

	"vitrine/library"
)

// models joins two lists of models. A graph lists every load with its node, so
// its list stands and flat records only add hashes and identifiers to it.
func (m *merger) models(models []library.ModelUse, graph bool) {
	switch {
	case len(models) == 0:
	case len(m.l.Models) == 0:
		if !m.mute {
			m.l.Models = append(m.l.Models, models...)
			m.note("models")
		}
	case graph:
		flat := m.l.Models
		m.l.Models = append([]library.ModelUse(nil), models...)
		m.describe(flat)
		m.l.Evidence = slices.DeleteFunc(m.l.Evidence, func(e library.Evidence) bool { return e.Field == "models" && e.Place == m.from["models"] })
		m.note("models")
	default:
		m.describe(models)
	}
}

// describe adds what other says of the models that are listed.
func (m *merger) describe(other []library.ModelUse) {
	m.loneBase = !m.mute && onlyBase(other) != nil
	for _, o := range other {
		have := m.listed(o)
		if have == nil {
			continue
		}
		fill(&have.Hash, o.Hash)
		fill(&have.VersionID, o.VersionID)
		fill(&have.BaseModel, o.BaseModel)
		if have.Strength == nil && o.Type != "other" {
			have.Strength = o.Strength
		}
	}
}

// listed finds the model that another record speaks of: by name, by the site's
// version number within an identifier, or because both list one base model only,
// which hosted generators rename on their servers.
func (m *merger) listed(o library.ModelUse) *library.ModelUse {
	name := library.FoldModelName(o.Name)
	for i := range m.l.Models {
		have := &m.l.Models[i]
		sameKind := have.Type == o.Type || o.Type == "other"
		if sameKind && (library.FoldModelName(have.Name) == name || o.VersionID != "" && strings.HasSuffix(have.VersionID, "@"+o.VersionID)) {
			return have
		}
	}
	if o.Type == "checkpoint" && m.loneBase {
		return onlyBase(m.l.Models)
	}
	return nil
}

// onlyBase returns the one base model of a list, nil when there are none or several.
func onlyBase(models []library.ModelUse) *library.ModelUse {
	var one *library.ModelUse
	for i := range models {
		if models[i].Type != "checkpoint" && models[i].Type != "unet" {
			continue
		}
		if one != nil {
			return nil
		}
		one = &models[i]
	}
	return one
}
