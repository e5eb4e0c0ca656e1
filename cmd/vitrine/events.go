package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"vitrine/library"
	"vitrine/store"
)

type eventsCommand struct {
	Subscribers eventsSubscribersCommand `cmd:"" help:"List the subscribers of events, how far behind each is, and its dead letters."`
	DeadLetters eventsDeadLettersCommand `cmd:"" help:"List the events that a subscriber failed to handle, and why."`
	Replay      eventsReplayCommand      `cmd:"" help:"Have a subscriber handle its dead letters again."`
}

type eventsSubscribersCommand struct{ servers }

func (c *eventsSubscribersCommand) Run(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := s.Store.Subscribers.States(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Println("There are no subscribers.")
		return nil
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SUBSCRIBER\tWAITING\tOLDEST\tDEAD LETTERS")
	for _, x := range list {
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\n", x.Name, x.Waiting, x.Oldest.Round(time.Second), x.DeadLetters)
	}
	return w.Flush()
}

// knownSubscriber refuses a name that no subscriber has.
func knownSubscriber(ctx context.Context, s *store.Store, name string) error {
	known, err := s.Subscribers.Has(ctx, name)
	if err == nil && !known {
		err = library.NewError(library.KindNotFound, library.CodeNotFound, "There is no subscriber %q. List them with: vitrine events subscribers", name)
	}
	return err
}

type eventsDeadLettersCommand struct {
	servers
	Subscriber string `arg:"" help:"Name of the subscriber."`
}

func (c *eventsDeadLettersCommand) Run(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := knownSubscriber(ctx, s.Store, c.Subscriber); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for after := int64(0); ; {
		list, err := s.Store.Subscribers.DeadLetters(ctx, c.Subscriber, after, 500)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, d := range list {
			if err := out.Encode(map[string]any{"position": d.Position, "tenant_id": d.Tenant, "type": d.Type, "key": d.Key, "reason": d.Reason}); err != nil {
				return err
			}
		}
		after = list[len(list)-1].Position
	}
}

type eventsReplayCommand struct {
	servers
	Subscriber string `arg:"" help:"Name of the subscriber."`
}

func (c *eventsReplayCommand) Run(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := knownSubscriber(ctx, s.Store, c.Subscriber); err != nil {
		return err
	}
	n, err := s.Store.Subscribers.ReplayDeadLetters(ctx, c.Subscriber)
	if err == nil {
		fmt.Printf("%s handles %d dead letters again. Those that fail again stay listed.\n", c.Subscriber, n)
	}
	return err
}
