package main

import (
	"context"
	"fmt"
	"time"

	"vitrine/api/client"
)

// demoRecordSource says of every record of the demo where it came from.
const demoRecordSource = "sample library"

// demoPerson is an invented person of the demo, at a domain that exists for examples alone.
type demoPerson struct {
	person  client.ProspectPerson
	touches int    // messages that were sent, one every four days
	reply   string // classification; empty: none came
	text    string
}

var demoPeople = []demoPerson{
	{person: client.ProspectPerson{Email: "ada@example.com", Name: "Ada Winter", Title: "Art director", Account: "Lighthouse Studio", Campaign: "spring", IcpScore: new(86.0),
		Summary: "Runs a team of six that makes key visuals with ComfyUI.", Pains: []string{"nobody finds last year's renders"}}, touches: 2, reply: "positive", text: "Show us how you search by prompt."},
	{person: client.ProspectPerson{Email: "ben@example.org", Name: "Ben Okoro", Title: "Producer", Account: "North Pier Films", Campaign: "spring", IcpScore: new(71.0)}, touches: 3, reply: "not_now", text: "Ask again after the festival."},
	{person: client.ProspectPerson{Email: "cleo@example.net", Name: "Cleo Marsh", Title: "Concept artist", Account: "Marsh & Daughters", Campaign: "spring", IcpScore: new(64.0)}, touches: 1},
	{person: client.ProspectPerson{Handle: "@dorian_draws", Name: "Dorian", Title: "Illustrator", Campaign: "meetup", IcpScore: new(40.0)}},
}

// demoOutreach records the people of the demo with what was written to them. Doing it again
// changes nothing: people are known by their keys, messages and replies by their external ids.
func demoOutreach(ctx context.Context, api *client.Client) error {
	now := time.Now().UTC().Truncate(24 * time.Hour)
	for i, p := range demoPeople {
		made, err := api.RegisterProspect(ctx, client.RegisterProspectInput{Prospect: p.person, RecordSource: demoRecordSource})
		if err != nil {
			return err
		}
		for n := range p.touches {
			at := now.AddDate(0, 0, -4*(p.touches-n))
			if _, err := api.LogOutreachTouch(ctx, client.LogOutreachTouchInput{ProspectH: made.ProspectH, RecordSource: demoRecordSource, Touch: client.ProspectTouchFields{
				Channel: "email", Subject: "Your renders, searchable", SentAt: &at, ExternalID: fmt.Sprintf("demo-touch-%d-%d", i, n)}}); err != nil {
				return err
			}
		}
		if p.reply == "" {
			continue
		}
		if _, err := api.LogReply(ctx, client.LogReplyInput{ProspectH: made.ProspectH, RecordSource: demoRecordSource, Reply: client.ProspectReplyFields{
			Classification: p.reply, Text: p.text, Channel: "email", ReceivedAt: &now, ExternalID: fmt.Sprintf("demo-reply-%d", i)}}); err != nil {
			return err
		}
	}
	return nil
}
