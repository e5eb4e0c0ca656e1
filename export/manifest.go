package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"vitrine/library"
	"vitrine/media/strip"
	"vitrine/store"
)

// manifest is what manifest.json says: every file with its checksum, and those that are left
// out with the reason.
type manifest struct {
	Preset library.ExportPreset `json:"preset"`
	Files  []entry              `json:"files"`
	Failed []failure            `json:"failed,omitempty"`

	rows    [][]string // of manifest.csv
	credits []string
	sums    []string
}

type entry struct {
	Name      string            `json:"name"`
	MIMEType  string            `json:"mime_type"`
	Bytes     int64             `json:"bytes"`
	SHA256    string            `json:"sha256"`
	Asset     library.AssetHash `json:"asset_h,omitempty"`
	SHA1      library.AssetHash `json:"sha1,omitempty"`
	Unchanged bool              `json:"unchanged,omitempty"`           // the original's bytes
	Disclosed bool              `json:"disclosure_embedded,omitempty"` // creator and AI disclosure stand in the file
	Notes     []string          `json:"notes,omitempty"`
}

type failure struct {
	Position int               `json:"position"` // in the list of assets, from 1 on
	Asset    library.AssetHash `json:"asset_h,omitempty"`
	Code     string            `json:"code"`
	Detail   string            `json:"detail"`
}

// beside writes what stands beside a file, and notes what the lists at the end say of it.
func (z *zipFile) beside(ctx context.Context, name string, d store.AssetDetail, about About) error {
	spec := z.export.Spec
	stem := strings.TrimSuffix(name, path.Ext(name))
	m := &z.manifest
	m.sums = append(m.sums, m.Files[len(m.Files)-1].SHA256+"  "+name)
	if spec.Credits {
		m.credits = append(m.credits, credit(name, d.Asset, about))
	}
	switch spec.Sidecar {
	case library.SidecarCSV:
		m.rows = append(m.rows, []string{name, d.Asset.Title, d.Asset.MIMEType, fmt.Sprint(d.Asset.Width), fmt.Sprint(d.Asset.Height), about.Creator, about.Rights, about.SourceType, about.System, m.Files[len(m.Files)-1].SHA256})
	case library.SidecarXMP:
		if packet := about.disclosure(spec).Packet(); packet != nil {
			return z.put(z.names.sidecar(stem, ".xmp"), packet)
		}
	case library.SidecarJSON:
		data, err := json.MarshalIndent(sidecarOf(name, d, about, spec), "", "  ")
		if err != nil {
			return err
		}
		if err := z.put(z.names.sidecar(stem, ".json"), append(data, '\n')); err != nil || !spec.Keep.Workflow {
			return err
		}
		editor, executed, err := z.builder.Store.Assets.Workflow(ctx, z.actor, d.Asset.Hash)
		if err != nil && library.AsError(err).Kind != library.KindNotFound {
			return err
		}
		if len(editor) == 0 {
			editor = executed
		}
		if len(editor) > 0 {
			return z.put(z.names.sidecar(stem, ".workflow.json"), editor)
		}
	}
	return nil
}

// sidecar is what a JSON file beside an asset says, as far as the spec keeps it.
type sidecar struct {
	File        string                        `json:"file"`
	Asset       library.AssetHash             `json:"asset_h,omitempty"`
	Filename    string                        `json:"filename,omitempty"`
	Title       string                        `json:"title,omitempty"`
	Description string                        `json:"description,omitempty"`
	Tags        []string                      `json:"tags,omitempty"`
	Rating      int                           `json:"rating,omitempty"`
	Created     string                        `json:"created_at,omitempty"`
	Collections []string                      `json:"collections,omitempty"`
	SourceType  string                        `json:"digital_source_type,omitempty"`
	System      string                        `json:"ai_system,omitempty"`
	Creator     string                        `json:"creator,omitempty"`
	Rights      string                        `json:"rights,omitempty"`
	Positive    *string                       `json:"prompt,omitempty"`
	Negative    *string                       `json:"negative_prompt,omitempty"`
	Parameters  *library.GenerationParameters `json:"parameters,omitempty"`
	Models      []library.ModelUse            `json:"models,omitempty"`
	Lineage     *library.Lineage              `json:"lineage,omitempty"`
}

func sidecarOf(name string, d store.AssetDetail, about About, spec library.ExportSpec) sidecar {
	s := sidecar{File: name, Title: d.Asset.Title, Tags: d.Asset.Tags, SourceType: about.SourceType, System: about.System, Creator: about.Creator, Rights: about.Rights}
	if spec.Original {
		s.Asset, s.Filename, s.Description, s.Rating = d.Asset.Hash, d.Asset.Filename, d.Asset.Description, d.Asset.Rating
		s.Created, s.Collections, s.Lineage = d.Asset.CreatedAt.UTC().Format("2006-01-02T15:04:05Z"), d.Collections, &d.Lineage
	}
	if spec.Keep.Prompts {
		s.Positive, s.Negative = d.Lineage.Positive, d.Lineage.Negative
	}
	if spec.Keep.Models {
		s.Models = d.Lineage.Models
	}
	if spec.Keep.Models && spec.Keep.Prompts {
		s.Parameters = d.Lineage.Parameters
	}
	return s
}

// credit is a line of credits.txt.
func credit(name string, a library.Asset, about About) string {
	parts := []string{name}
	for _, p := range []struct{ label, text string }{{"", a.Title}, {"by ", about.Creator}, {"", about.Rights}, {"made with ", about.System}} {
		if p.text != "" {
			parts = append(parts, p.label+strings.Join(strings.Fields(p.text), " "))
		}
	}
	if strings.HasPrefix(about.SourceType, strip.SourceTypes+"trained") {
		parts = append(parts, "AI-generated")
	}
	return strings.Join(parts, " | ")
}

// writeManifests writes the lists at the end of a zip.
func (z *zipFile) writeManifests() error {
	m, spec := &z.manifest, z.export.Spec
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := z.put("manifest.json", append(data, '\n')); err != nil {
		return err
	}
	if spec.Sidecar == library.SidecarCSV {
		table, err := spreadsheet(append([][]string{{"file", "title", "mime_type", "width", "height", "creator", "rights", "digital_source_type", "ai_system", "sha256"}}, m.rows...))
		if err != nil {
			return err
		}
		if err := z.put("manifest.csv", table); err != nil {
			return err
		}
	}
	if spec.Credits {
		if err := z.put("credits.txt", []byte(strings.Join(m.credits, "\n")+"\n")); err != nil {
			return err
		}
	}
	if spec.Checksums {
		return z.put("checksums.sha256", []byte(strings.Join(m.sums, "\n")+"\n"))
	}
	return nil
}

// spreadsheet returns rows as CSV that no spreadsheet takes for formulas.
func spreadsheet(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, row := range rows {
		for i, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) {
				row[i] = "'" + cell
			}
		}
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
