package service

import (
	"context"
	"maps"

	"vitrine/automation"
	"vitrine/library"
	"vitrine/op/pipelines"
	"vitrine/op/search"
	"vitrine/query"
)

// newRules returns what fires the rules of the service.
func (s *Service) newRules() *automation.Rules {
	find := &search.Service{Store: s.Store, Searcher: s.Searcher}
	return automation.NewRules(s.Store, automation.RulesConfig{Log: s.log, Now: s.cfg.RuleClock, Prepare: s.prepareRule,
		EachMatch: func(ctx context.Context, actor library.Actor, text string, each func([]library.AssetHash) error) error {
			compiled, err := find.Compile(ctx, actor, text, query.Request{Limit: 1, Sort: []query.Sort{{By: "stored"}}})
			if err != nil {
				return err
			}
			_, err = s.Searcher.Scan(ctx, actor.Tenant, compiled, 0, each)
			return err
		}})
}

// prepareRule makes the run of a rule's pipeline, which is no dry run whatever the pipeline's default
// is: who makes a rule wants it to act. What fired the rule is given to those variables
// that the pipeline declares.
func (s *Service) prepareRule(ctx context.Context, actor library.Actor, r library.Rule, f library.RuleFiring) (library.PipelineRun, error) {
	p, err := s.Store.Pipelines.Find(ctx, actor.Tenant, library.PipelineHash(r.Pipeline), "")
	if err != nil {
		return library.PipelineRun{}, err
	}
	vars := map[string]any{}
	for name, v := range f.Vars {
		if _, declared := p.Vars[name]; declared {
			vars[name] = v
		}
	}
	maps.Copy(vars, r.Vars)
	q := pipelines.Saved(p, vars)
	q.Tool, q.Trigger, q.Depth = "RunRule", library.RunTrigger{Type: string(r.Trigger.Type), RuleID: r.ID}, f.Depth+1
	q.DryRun = false
	return s.Pipelines.Prepare(ctx, actor, q)
}

// forgetRulesPage is how many entries of the logs of rules are deleted at once.
const forgetRulesPage = 5000

// forgetRules deletes old firings of rules.
func (s *Service) forgetRules(ctx context.Context) {
	for {
		n, err := s.Store.Rules.ForgetRuns(ctx, forgetRulesPage)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("old firings of rules could not be deleted", "error", err)
		}
		if err != nil || n < forgetRulesPage {
			return
		}
	}
}
