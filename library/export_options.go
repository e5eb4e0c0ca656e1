package library

// ExportOptions are what the preset custom does; NewExportSpec applies them. Left out,
// everything but the color profile is removed.
type ExportOptions struct {
	MaxEdge      int                    `json:"max_edge,omitempty" minimum:"16" maximum:"16384" doc:"Pixels of the longest edge."`
	Quality      int                    `json:"quality,omitempty" minimum:"1" maximum:"100"`
	Keep         *ExportKeepOptions     `json:"keep,omitempty" doc:"Metadata to keep. Default: icc alone. A block stays only if all that it may hold is kept."`
	AIDisclosure *bool                  `json:"ai_disclosure,omitempty" doc:"Default true."`
	Watermark    *ExportWatermarkOption `json:"watermark,omitempty"`
	Naming       string                 `json:"naming,omitempty" enum:"neutral,title,ordered,original"`
	Sidecar      string                 `json:"sidecar,omitempty" enum:"none,json,xmp,csv"`
}

// ExportKeepOptions are what of a file's metadata the preset custom keeps.
type ExportKeepOptions struct {
	Prompts  bool  `json:"prompts,omitempty"`
	Workflow bool  `json:"workflow,omitempty"`
	Models   bool  `json:"models,omitempty"`
	EXIF     bool  `json:"exif,omitempty"`
	GPS      bool  `json:"gps,omitempty"`
	IPTC     bool  `json:"iptc,omitempty"`
	ICC      *bool `json:"icc,omitempty"`
	C2PA     bool  `json:"c2pa,omitempty"`
}

// ExportWatermarkOption is a text that the preset custom draws onto pictures.
type ExportWatermarkOption struct {
	Text     string  `json:"text" minLength:"1" maxLength:"100"`
	Position string  `json:"position,omitempty" enum:"top-left,top-right,center,bottom-left,bottom-right"`
	Opacity  float64 `json:"opacity,omitempty" minimum:"0.05" maximum:"1"`
}

// NewExportSpec returns how a preset writes files with a format, which may be empty, and options,
// which may be nil, and what is wrong with them; fields are named below the path at, which
// ends with a dot or is empty.
func NewExportSpec(at string, preset ExportPreset, format string, options *ExportOptions) (spec ExportSpec, errs []FieldError) {
	if options != nil && preset != ExportCustom {
		errs = append(errs, FieldError{Field: at + "options", Code: "conflict", Message: "Options are for the preset custom.", Hint: "Send preset custom, or no options."})
	}
	spec = SpecOf(preset)
	if spec.Original && format != "" && format != "preserve" {
		errs = append(errs, FieldError{Field: at + "format", Code: "conflict", Message: "The preset archive exports the original bytes.", Hint: "Send preserve, or another preset."})
	}
	options.apply(&spec)
	if format != "" {
		spec.Format, spec.Exact = format, format != "preserve"
	}
	return spec, errs
}

func (o *ExportOptions) apply(s *ExportSpec) {
	if o == nil {
		return
	}
	s.MaxEdge, s.Quality = o.MaxEdge, o.Quality
	if k := o.Keep; k != nil {
		s.Keep = ExportKeep{Prompts: k.Prompts, Workflow: k.Workflow, Models: k.Models, EXIF: k.EXIF, GPS: k.GPS, IPTC: k.IPTC, ICC: k.ICC == nil || *k.ICC, C2PA: k.C2PA}
	}
	if o.AIDisclosure != nil {
		s.Disclosure = *o.AIDisclosure
	}
	if w := o.Watermark; w != nil {
		s.Watermark = &ExportWatermark{Text: w.Text, Position: w.Position, Opacity: w.Opacity}
	}
	if o.Naming != "" {
		s.Naming = o.Naming
	}
	if o.Sidecar != "" {
		s.Sidecar = o.Sidecar
	}
}

// NoWebP returns the error of an export as lossy WebP where nothing can write it.
func NoWebP() *Error {
	return NewError(KindUnprocessable, CodeFormatUnavailable, "This service cannot write lossy WebP: it needs ffmpeg with libwebp. Choose png, jpeg or preserve.")
}
