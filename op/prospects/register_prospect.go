package prospects

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"vitrine/library"
	"vitrine/op"
	"vitrine/outreach"
	"vitrine/store"
)

// Person is what is said of a prospect.
type Person struct {
	Email          string   `json:"email,omitempty" maxLength:"320"`
	LinkedInURL    string   `json:"linkedin_url,omitempty" maxLength:"1000"`
	ProfileURL     string   `json:"profile_url,omitempty" maxLength:"1000"`
	Handle         string   `json:"handle,omitempty" maxLength:"200" doc:"@name or platform:name."`
	Website        string   `json:"website,omitempty" maxLength:"1000"`
	Name           string   `json:"name,omitempty" maxLength:"200"`
	Title          string   `json:"title,omitempty" maxLength:"200"`
	Account        string   `json:"account,omitempty" maxLength:"200" doc:"Company."`
	Vertical       string   `json:"vertical,omitempty" maxLength:"100"`
	Campaign       string   `json:"campaign,omitempty" maxLength:"100"`
	ICPScore       *float64 `json:"icp_score,omitempty" minimum:"0" maximum:"100" doc:"0 to 100."`
	Owner          string   `json:"owner,omitempty" maxLength:"200"`
	Summary        string   `json:"summary,omitempty" maxLength:"5000" doc:"Research."`
	Pains          []string `json:"pains,omitempty" maxItems:"50"`
	Signals        []string `json:"signals,omitempty" maxItems:"50"`
	Sources        []string `json:"sources,omitempty" maxItems:"50"`
	TrialStartDate string   `json:"trial_start_date,omitempty" maxLength:"10" doc:"YYYY-MM-DD."`
	AgreedPrice    *float64 `json:"agreed_price,omitempty" minimum:"0" maximum:"1000000000000"`
	Currency       string   `json:"currency,omitempty" maxLength:"3"`
}

type registerInput struct {
	op.TenantInput
	Prospect Person `json:"prospect" tool:"open" doc:"email, linkedin_url, profile_url, handle or website (the first one there identifies the person); name, title, account, vertical, campaign, icp_score, owner, summary, pains[], signals[], sources[], trial_start_date, agreed_price, currency."`
	Recorded
}

// maxResearch is how long each text of a list may be, in characters.
const maxResearch = 1000

// Validate implements op.Validator.
func (in *registerInput) Validate() []library.FieldError {
	p := &in.Prospect
	p.clean()
	errs := p.check("prospect.")
	if in.source() == "" {
		errs = append(errs, library.FieldError{Field: "record_source", Code: "length", Message: "It may not be empty."})
	}
	return errs
}

// clean brings texts to the form that they are kept in.
func (p *Person) clean() {
	clean(&p.Email, &p.LinkedInURL, &p.ProfileURL, &p.Handle, &p.Website, &p.Name, &p.Title, &p.Account, &p.Vertical, &p.Campaign, &p.Owner, &p.Summary, &p.TrialStartDate, &p.Currency)
	p.Pains, p.Signals, p.Sources, p.Currency = cleanList(p.Pains), cleanList(p.Signals), cleanList(p.Sources), strings.ToUpper(p.Currency)
}

// Check returns what is wrong with a person, in fields without a prefix.
func (p *Person) Check() []library.FieldError {
	p.clean()
	return p.check("")
}

// check returns what is wrong with a person; prefix stands before the names of fields.
func (p *Person) check(prefix string) (errs []library.FieldError) {
	profile := p.profile()
	keys, wrong := profile.Keys()
	for _, w := range wrong {
		errs = append(errs, library.FieldError{Field: prefix + string(w.Field), Code: "format", Message: w.Message})
	}
	if len(keys) == 0 && len(wrong) == 0 {
		errs = append(errs, library.FieldError{Field: cmp.Or(strings.TrimSuffix(prefix, "."), "email"), Code: "required", Message: "At least one of email, linkedin_url, profile_url, handle and website is required: it identifies the person."})
	}
	for _, f := range []struct {
		name, value string
		most        int
	}{{"email", p.Email, 320}, {"linkedin_url", p.LinkedInURL, 1000}, {"profile_url", p.ProfileURL, 1000}, {"handle", p.Handle, 200}, {"website", p.Website, 1000}, {"name", p.Name, 200}, {"title", p.Title, 200},
		{"account", p.Account, 200}, {"vertical", p.Vertical, 100}, {"campaign", p.Campaign, 100}, {"owner", p.Owner, 200}, {"summary", p.Summary, 5000}} {
		if utf8.RuneCountInString(f.value) > f.most {
			errs = append(errs, library.FieldError{Field: prefix + f.name, Code: "length", Message: fmt.Sprintf("Expected at most %d characters.", f.most)})
		}
	}
	for _, f := range []struct {
		name  string
		value *float64
		most  float64
	}{{"icp_score", p.ICPScore, 100}, {"agreed_price", p.AgreedPrice, 1e12}} {
		if v := f.value; v != nil && !(*v >= 0 && *v <= f.most) { // NaN is neither
			errs = append(errs, library.FieldError{Field: prefix + f.name, Code: "range", Message: fmt.Sprintf("Expected 0 to %.0f.", f.most)})
		}
	}
	for field, list := range map[string][]string{"pains": p.Pains, "signals": p.Signals, "sources": p.Sources} {
		if len(list) > 50 {
			errs = append(errs, library.FieldError{Field: prefix + field, Code: "length", Message: "Expected at most 50 texts."})
		}
		errs = append(errs, checkLengths(prefix+field, list, maxResearch)...)
	}
	if p.Currency != "" && (len(p.Currency) != 3 || strings.Trim(p.Currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		errs = append(errs, library.FieldError{Field: prefix + "currency", Code: "format", Message: "Expected a code of three letters such as EUR."})
	}
	return append(errs, checkDate(prefix+"trial_start_date", p.TrialStartDate)...)
}

func (p *Person) profile() outreach.Profile {
	return outreach.Profile{Email: p.Email, LinkedInURL: p.LinkedInURL, ProfileURL: p.ProfileURL, Handle: p.Handle, Website: p.Website,
		Name: p.Name, Title: p.Title, Account: p.Account, Vertical: p.Vertical, Campaign: p.Campaign, ICPScore: p.ICPScore}
}

// Record returns what is registered of a person. Research and a deal are rows of their own, and only
// where something is said of them.
func (p *Person) Record(source string) store.NewProspect {
	n := store.NewProspect{Profile: p.profile(), Source: source}
	if p.Summary != "" || len(p.Pains)+len(p.Signals)+len(p.Sources) > 0 {
		n.Research = &outreach.Research{Summary: p.Summary, Pains: p.Pains, Signals: p.Signals, Sources: p.Sources}
	}
	if p.TrialStartDate != "" || p.AgreedPrice != nil {
		n.Deal = &outreach.Deal{TrialStartDate: p.TrialStartDate, AgreedPrice: p.AgreedPrice, Currency: p.Currency}
	}
	if p.Owner != "" {
		n.Owner = &p.Owner
	}
	return n
}

// PersonOf returns what is known of a person, in the form in which it is registered.
func PersonOf(s *outreach.State) Person {
	p := s.Profile
	out := Person{Email: p.Email, LinkedInURL: p.LinkedInURL, ProfileURL: p.ProfileURL, Handle: p.Handle, Website: p.Website, Name: p.Name, Title: p.Title, Account: p.Account,
		Vertical: p.Vertical, Campaign: p.Campaign, ICPScore: p.ICPScore, Owner: s.Owner}
	if r := s.Research; r != nil {
		out.Summary, out.Pains, out.Signals, out.Sources = r.Summary, r.Pains, r.Signals, r.Sources
	}
	if d := s.Deal; d != nil {
		out.TrialStartDate, out.AgreedPrice, out.Currency = d.TrialStartDate, d.AgreedPrice, d.Currency
	}
	return out
}

type registerOutput struct {
	Written
	Created  bool                   `json:"created" doc:"false: the person was known, and rows were added."`
	Merged   []library.ProspectHash `json:"merged_prospect_hs" doc:"Later records that are the same person. Each of them names this prospect too."`
	Research bool                   `json:"research_recorded"`
	Deal     bool                   `json:"deal_recorded"`
}

func (s *Service) registerProspect() op.Operation {
	return op.Define(op.Meta{
		Name: "RegisterProspect", Title: "Register a prospect", Domain: op.Outreach,
		Doc: "Records a person for outreach. Whoever has the same email, profile or handle is the same person: rows are added, and the latest value of each field counts.",
		More: "Keys are compared without differences of case, of forms of Unicode, of the country, language and query of addresses on LinkedIn, of trackers in queries, and of dots and slashes at the end. " +
			"An email, a personal address on LinkedIn and a profile_url are one person's. A handle, a website and a company's page may be shared: they tie two records only where no stronger key says that they are two people. " +
			"Records that a later one ties together are merged into the oldest, and all their rows count. UndoOperation takes the rows back and parts what they tied. " +
			"Someone whose data was erased is suppressed for good when registered again.",
		Method: "POST", Path: "/api/v1/prospects", Permission: library.PermWrite, Creates: "/api/v1/prospects/{prospect_h}", Chained: true,
		Example: map[string]any{"prospect": map[string]any{"email": "ada@example.com", "name": "Ada Example", "account": "Example Studios", "campaign": "spring", "icp_score": 80}, "record_source": exampleSource},
	}, func(ctx context.Context, actor library.Actor, in registerInput) (registerOutput, error) {
		n := in.Prospect.Record(in.source())
		done, err := s.Store.Prospects.Register(ctx, actor, n)
		if err != nil {
			return registerOutput{}, err
		}
		out := registerOutput{Written: describeWrite(done), Created: done.Created, Merged: append([]library.ProspectHash{}, done.Merged...), Research: n.Research != nil, Deal: n.Deal != nil}
		if done.MergedNow > 0 {
			out.Warnings.Warnings = append(out.Warnings.Warnings, Warning{"PROSPECTS_MERGED", fmt.Sprintf("This tied %d records together: they are one prospect now. UndoOperation parts them.", done.MergedNow+1)})
		}
		return out, nil
	})
}
