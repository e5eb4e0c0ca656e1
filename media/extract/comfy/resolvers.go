package comfy

import "vitrine/library"

// A graph is read by resolvers. Each answers one kind of question, keeps its own
// answers, which makes reading linear and ends cycles, and asks the others through
// their few entry points:
//
//	switches  which branch of a switch was taken
//	values    the number or word that reaches an input
//	pictures  the path that a picture took, and the sampling passes on it
//	sizes     the size of the picture at a node
//	texts     the text that reaches an input
//	prompts   the texts that steer a pass
//	models    the weight files that a node loads
//	passes    the settings of a pass
//	chains    the passes of a picture in order, and what each is for
//	outputs   the node that wrote the file
//	runs      the nodes that took part, in an order in which they can run
//	parents   the files that were loaded
//
// A question may lead from any of them to any other (a switch asks for a number that
// a size gives), so they are made together.
type resolvers struct {
	notes    *notes
	switches *switches
	values   *values
	pictures *pictures
	sizes    *sizer
	texts    *texts
	prompts  *prompts
	models   *models
	passes   *passes
	chains   *chains
	outputs  *outputs
	runs     *runs
	parents  *parents
}

// reader puts together what the resolvers find.
type reader struct {
	in Input
	g  *graph
	resolvers
}

// switches finds the branches that switch nodes took.
type switches struct {
	notes  *notes
	values *values
	memo   map[*node]choice
}

// values finds the numbers and words behind links.
type values struct {
	switches *switches
	sizes    *sizer
	memo     map[scalarKey]found
}

// pictures follows pictures, latents and videos back to where they began.
type pictures struct {
	notes    *notes
	switches *switches
	reaches  map[*node]bool
	samplers map[*node]bool
}

// texts finds the texts behind links, through the nodes that join and edit them.
type texts struct {
	g        *graph
	notes    *notes
	switches *switches
	values   *values
	memo     map[textKey]found
	budget   int
}

// prompts finds the texts that steer a pass.
type prompts struct {
	notes    *notes
	switches *switches
	values   *values
	texts    *texts
	memo     map[promptKey]*promptSet
}

// models finds the weight files that nodes load.
type models struct {
	notes       *notes
	switches    *switches
	values      *values
	texts       *texts
	runs        *runs
	nameSources map[*input]bool // inputs that only hand a file's name to a loader
	loads       []load          // of all nodes that ran, in running order
}

// passes reads the settings of sampling passes.
type passes struct {
	values   *values
	pictures *pictures
	prompts  *prompts
	models   *models
	memo     map[*node]*library.SamplerPass
	origins  map[*node]map[string]*node // per pass, the node each setting was read from
}

// chains orders the passes that a picture went through.
type chains struct {
	notes    *notes
	values   *values
	pictures *pictures
	sizes    *sizer
	prompts  *prompts
	models   *models
	passes   *passes
	runs     *runs
}

// outputs chooses the node that wrote the file.
type outputs struct {
	in       Input
	g        *graph
	notes    *notes
	values   *values
	pictures *pictures
	sizes    *sizer
	likely   *sizer
	texts    *texts
	parents  *parents
	rivals   []*node // other outputs that may as well have written the file
}

// runs holds the nodes that took part.
type runs struct {
	g        *graph
	notes    *notes
	switches *switches
	pictures *pictures
	live     map[*node]bool
	sequence []*node // live nodes in an order in which they can run
}

// parents finds the files that were loaded.
type parents struct {
	runs     *runs
	pictures *pictures
	texts    *texts
	usedBy   map[*node][]*node
}

func newReader(in Input, g *graph) *reader {
	n := &notes{place: g.place, stepBudget: maxSteps}
	sw := &switches{notes: n, memo: map[*node]choice{}}
	va := &values{switches: sw, memo: map[scalarKey]found{}}
	pi := &pictures{notes: n, switches: sw, reaches: map[*node]bool{}, samplers: map[*node]bool{}}
	te := &texts{g: g, notes: n, switches: sw, values: va, memo: map[textKey]found{}, budget: maxTextBudget}
	pr := &prompts{notes: n, switches: sw, values: va, texts: te, memo: map[promptKey]*promptSet{}}
	ru := &runs{g: g, notes: n, switches: sw, pictures: pi, live: map[*node]bool{}}
	mo := &models{notes: n, switches: sw, values: va, texts: te, runs: ru, nameSources: map[*input]bool{}}
	sz, likely := newSizer(va, pi, mo, false), newSizer(va, pi, mo, true)
	sw.values, va.sizes = va, sz
	pa := &parents{runs: ru, pictures: pi, texts: te}
	pass := &passes{values: va, pictures: pi, prompts: pr, models: mo, memo: map[*node]*library.SamplerPass{}, origins: map[*node]map[string]*node{}}
	return &reader{in: in, g: g, resolvers: resolvers{
		notes: n, switches: sw, values: va, pictures: pi, sizes: sz, texts: te, prompts: pr, models: mo, runs: ru, parents: pa,
		passes: pass, chains: &chains{notes: n, values: va, pictures: pi, sizes: sz, prompts: pr, models: mo, passes: pass, runs: ru},
		outputs: &outputs{in: in, g: g, notes: n, values: va, pictures: pi, sizes: sz, likely: likely, texts: te, parents: pa},
	}}
}
