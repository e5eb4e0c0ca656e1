package search

import (
	"cmp"
	"context"
	"slices"

	"vitrine/library"
	"vitrine/media/phash"
	"vitrine/op"
	"vitrine/query"
	"vitrine/store"
)

type duplicatesInput struct {
	op.TenantInput
	AssetHash string `json:"asset_h,omitempty" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" tool:"plain" doc:"Only what is like this asset."`
	Query     string `json:"query,omitempty" id:"query" maxLength:"8192" tool:"plain" doc:"Only among the first 2,000 results. Without both: the whole library."`
	By        string `json:"by,omitempty" enum:"phash,prompt,workflow,embedding,sha1" default:"phash" doc:"phash: look alike. prompt, workflow: made with the same. embedding: near asset_h in meaning. sha1: none, as equal bytes are one asset."`
	Threshold *int   `json:"threshold,omitempty" minimum:"0" maximum:"10" doc:"Bits of 64 that may differ by phash. Default: 8."`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20" doc:"Groups per page."`
	Offset    int    `json:"offset,omitempty" minimum:"0" maximum:"100000"`
	op.FormatInput
}

// Validate implements op.Validator.
func (in *duplicatesInput) Validate() (errs []library.FieldError) {
	if in.AssetHash != "" && in.Query != "" {
		errs = append(errs, library.FieldError{Field: "query", Code: "conflict", Message: "asset_h and query exclude each other.", Hint: "Send one of them, or neither for the whole library."})
	}
	if in.By == "embedding" && in.AssetHash == "" {
		errs = append(errs, library.FieldError{Field: "asset_h", Code: "required", Message: "by embedding compares with one asset.", Hint: "Send its asset_h, or compare by phash, prompt or workflow."})
	}
	return errs
}

type duplicate struct {
	AssetHash    library.AssetHash `json:"asset_h"`
	Title        string            `json:"title,omitempty"`
	Filename     string            `json:"filename"`
	MIMEType     string            `json:"mime_type"`
	Size         int64             `json:"size" doc:"In bytes."`
	Width        int               `json:"width,omitempty"`
	Height       int               `json:"height,omitempty"`
	Rating       int               `json:"rating,omitempty"`
	Favorite     bool              `json:"favorite,omitempty"`
	Distance     *int              `json:"distance,omitempty" doc:"By phash: how many bits differ from the keeper."`
	ThumbnailURL string            `json:"thumbnail_url,omitempty" doc:"With response_format detailed."`
}

type duplicateGroup struct {
	Keeper library.AssetHash `json:"suggested_keeper" doc:"The one to keep: a favorite, the best rated, approved, with most pixels, the largest file, the oldest, in this order."`
	Total  int               `json:"total" doc:"How many assets the group has."`
	Assets []duplicate       `json:"assets" doc:"At most 50, the keeper first."`
}

type duplicatesOutput struct {
	Groups     []duplicateGroup `json:"groups"`
	Total      int              `json:"total" doc:"How many groups there are."`
	NextOffset *int             `json:"next_offset,omitempty" doc:"The offset of the next page; absent on the last page."`
	Partial    bool             `json:"partial,omitempty" doc:"The query has more than 2,000 results; groups are among the first of them."`
}

// maxGroup is how many assets of a group are listed; maxAmong is among how many results of a
// query duplicates are looked for.
const (
	maxGroup = 50
	maxAmong = 2000
)

func (s *Service) findDuplicates() op.Operation {
	return op.Define(op.Meta{
		Name: "FindDuplicates", Title: "Find duplicates", Domain: op.Search,
		Doc: "Groups assets that look alike, or that were made with the same prompt or workflow (stacks), and suggests which of each group to keep. " +
			"Nothing is changed; TrashAssets moves the others to the trash.",
		More: "Every asset of a group by phash looks like one of its assets, so small differences do not add up. Pictures are compared once their preview was made; those without contrast are not compared. " +
			"What UnlinkDuplicates has unlinked is in no common group by phash or embedding. is:duplicate in queries finds what looks like another asset by phash.",
		Method: "POST", Path: "/api/v1/assets/duplicates", Permission: library.PermSearch, Rate: op.RateSearch, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"by": "phash", "limit": 5},
	}, s.duplicates)
}

func (s *Service) duplicates(ctx context.Context, actor library.Actor, in duplicatesInput) (duplicatesOutput, error) {
	out := duplicatesOutput{Groups: []duplicateGroup{}}
	hash := lowerHash(in.AssetHash)
	if hash != "" {
		there, err := s.Store.Assets.Existing(ctx, actor, []library.AssetHash{hash})
		if err != nil {
			return out, err
		}
		if !there[hash] {
			return out, library.NotFound("asset")
		}
	}
	var among []library.AssetHash
	if in.Query != "" {
		var err error
		if among, out.Partial, err = s.among(ctx, actor, in.Query); err != nil {
			return out, err
		}
	}
	groups, err := s.groups(ctx, actor, in, hash, among)
	if err != nil {
		return out, err
	}
	out.Total = len(groups)
	page := groups[min(in.Offset, len(groups)):min(in.Offset+in.Limit, len(groups))]
	if next := in.Offset + len(page); next < len(groups) {
		out.NextOffset = &next
	}
	for _, g := range page {
		group, err := s.describeGroup(ctx, actor, in, g)
		if err != nil {
			return out, err
		}
		if group.Total > 1 { // else the others went away meanwhile
			out.Groups = append(out.Groups, group)
		}
	}
	return out, nil
}

// alike is a group before its assets are read.
type alike struct {
	hashes []library.AssetHash
	prints map[library.AssetHash]phash.Hash // by phash
}

func (s *Service) groups(ctx context.Context, actor library.Actor, in duplicatesInput, hash library.AssetHash, among []library.AssetHash) ([]alike, error) {
	switch in.By {
	case "sha1":
		return nil, nil
	case "embedding":
		return s.nearInMeaning(ctx, actor, hash)
	case "phash":
		return s.lookAlike(ctx, actor, in, hash, among)
	}
	found, err := s.Store.Fingerprints.Sharing(ctx, actor, store.Sharing(in.By), hash, among)
	groups := make([]alike, len(found))
	for i, g := range found {
		groups[i].hashes = g
	}
	return groups, err
}

// lookAlike groups by the perceptual hash, the largest groups first.
func (s *Service) lookAlike(ctx context.Context, actor library.Actor, in duplicatesInput, hash library.AssetHash, among []library.AssetHash) ([]alike, error) {
	list, err := s.Store.Fingerprints.List(ctx, actor, among)
	if err != nil {
		return nil, err
	}
	threshold := phash.Alike
	if in.Threshold != nil {
		threshold = *in.Threshold
	}
	prints := make([]phash.Hash, len(list))
	for i, p := range list {
		prints[i] = phash.Hash(p.PHash)
	}
	unlinked, err := s.Store.Duplicates.Unlinked(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	apart := func(i, j int) bool { return unlinked[store.PairOf(list[i].Hash, list[j].Hash)] }
	if len(unlinked) == 0 {
		apart = nil
	}
	var found [][]int
	if hash == "" {
		found = phash.Group(prints, threshold, apart)
	} else if i := slices.IndexFunc(list, func(p store.Fingerprint) bool { return p.Hash == hash }); i >= 0 {
		if near := phash.Around(prints, i, threshold, apart); len(near) > 1 {
			found = [][]int{near}
		}
	}
	slices.SortStableFunc(found, func(a, b []int) int { return len(b) - len(a) })
	groups := make([]alike, len(found))
	for i, g := range found {
		groups[i].prints = make(map[library.AssetHash]phash.Hash, len(g))
		for _, j := range g {
			groups[i].hashes = append(groups[i].hashes, list[j].Hash)
			groups[i].prints[list[j].Hash] = prints[j]
		}
	}
	return groups, nil
}

// nearInMeaning returns the neighbors of an asset by their embeddings as one group.
func (s *Service) nearInMeaning(ctx context.Context, actor library.Actor, hash library.AssetHash) ([]alike, error) {
	in := searchInput{SimilarTo: string(hash), PageInput: PageInput{Limit: maxGroup}}
	in.ResponseFormat = "detailed" // exact scores
	found, err := s.search(ctx, actor, in)
	if err != nil {
		return nil, err
	}
	unlinked, err := s.Store.Duplicates.Unlinked(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	g := alike{hashes: []library.AssetHash{hash}}
	for _, h := range found.Data {
		near := h.AssetHash != hash && h.RelevanceScore != nil && *h.RelevanceScore >= nearlySame
		if near && !slices.ContainsFunc(g.hashes, func(other library.AssetHash) bool { return unlinked[store.PairOf(other, h.AssetHash)] }) {
			g.hashes = append(g.hashes, h.AssetHash)
		}
	}
	if len(g.hashes) == 1 {
		return nil, nil
	}
	return []alike{g}, nil
}

// nearlySame is the score of a neighbor whose vector has a cosine of 0.95: (1 + cosine) / 2.
const nearlySame = 0.975

// among returns the first results of a query, and whether there are more.
func (s *Service) among(ctx context.Context, actor library.Actor, text string) (hashes []library.AssetHash, partial bool, err error) {
	const page = 500
	hashes = []library.AssetHash{}
	for len(hashes) < maxAmong {
		_, compiled, err := s.compile(ctx, actor, text, query.Request{Mode: query.Mode("smart"), Limit: page, Offset: len(hashes)})
		if err != nil {
			return nil, false, err
		}
		got, err := s.Searcher.Search(ctx, actor.Tenant, compiled)
		if err != nil {
			return nil, false, err
		}
		for _, h := range got.Hits {
			hashes = append(hashes, h.Document.AssetH)
		}
		if len(got.Hits) == 0 || int64(len(hashes)) >= got.Total {
			return hashes, false, nil
		}
	}
	return hashes, true, nil
}

func (s *Service) describeGroup(ctx context.Context, actor library.Actor, in duplicatesInput, g alike) (duplicateGroup, error) {
	found, err := s.Store.Assets.List(ctx, actor, g.hashes[:min(len(g.hashes), 10*maxGroup)])
	if err != nil {
		return duplicateGroup{}, err
	}
	list := make([]library.Asset, 0, len(found))
	for _, h := range g.hashes {
		if a, ok := found[h]; ok {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return duplicateGroup{}, nil
	}
	slices.SortStableFunc(list, keepFirst)
	out := duplicateGroup{Keeper: list[0].Hash, Total: len(g.hashes) - min(len(g.hashes), 10*maxGroup) + len(list), Assets: []duplicate{}}
	links := s.Links.For(actor).In(in.FormatInput)
	for _, a := range list[:min(len(list), maxGroup)] {
		d := duplicate{AssetHash: a.Hash, Title: a.Title, Filename: a.Filename, MIMEType: a.MIMEType, Size: a.Size, Width: a.Width, Height: a.Height,
			Rating: a.Rating, Favorite: a.Favorite, ThumbnailURL: links.Thumbnail(a.Tenant, a.Hash)}
		if g.prints != nil {
			n := g.prints[a.Hash].Distance(g.prints[list[0].Hash])
			d.Distance = &n
		}
		out.Assets = append(out.Assets, d)
	}
	return out, nil
}

// keepFirst orders assets by which of them to keep: what somebody chose, then what is
// best, then what was there first.
func keepFirst(a, b library.Asset) int {
	truth := func(yes bool) int {
		if yes {
			return 1
		}
		return 0
	}
	return cmp.Or(truth(b.Favorite)-truth(a.Favorite), b.Rating-a.Rating, truth(b.Status == library.StatusApproved)-truth(a.Status == library.StatusApproved),
		b.Width*b.Height-a.Width*a.Height, cmp.Compare(b.Size, a.Size), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Hash, b.Hash))
}
