package main

import (
	"fmt"
	"testing"

	"vitrine/api/client"
	"vitrine/service/servicetest"
)

// TestDemo_OutreachIsRecordedOnce records the people of the demo twice and finds each with what
// was written to them.
func TestDemo_OutreachIsRecordedOnce(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	api, ctx := e.Client(""), t.Context()
	for range 2 {
		if err := demoOutreach(ctx, api); err != nil {
			t.Fatal(err)
		}
	}
	ada, err := api.RegisterProspect(ctx, client.RegisterProspectInput{Prospect: demoPeople[0].person, RecordSource: demoRecordSource})
	if err != nil || ada.Created {
		t.Fatalf("%+v %v", ada, err)
	}
	state, err := api.GetProspectState(ctx, client.GetProspectStateInput{ProspectH: ada.ProspectH})
	if err != nil || len(state.Touches) != 2 || len(state.Replies) != 1 || state.ContactLink == nil {
		t.Errorf("%+v %v", state, err)
	}
	for campaign, want := range map[string]int64{"spring": 2, "meetup": 1} { // one of spring is suppressed for now
		servicetest.Eventually(t, "people of "+campaign, func() error {
			found, err := api.SearchProspects(ctx, client.SearchProspectsInput{Filters: &client.ProspectFilters{Campaign: campaign}})
			if err == nil && found.Total != want {
				err = fmt.Errorf("%d of %d are found", found.Total, want)
			}
			return err
		})
	}
	servicetest.Eventually(t, "the contact", func() error {
		contacts, err := api.SearchContacts(ctx, client.SearchContactsInput{Pipeline: "enterprise"})
		if err == nil && contacts.Total != 1 {
			err = fmt.Errorf("%d are found", contacts.Total)
		}
		return err
	})
}
