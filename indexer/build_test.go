package indexer

import (
	"encoding/json"
	"time"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
)

func rowOf(n store.NewAsset) *store.DocumentRow {
	doc, err := json.Marshal(n.Lineage)
	if err != nil {
		panic(err)
	}
	r := &store.DocumentRow{
		AssetKey: store.AssetKey{Tenant: "11111111-2222-3333-4444-555555555555", Hash: n.Asset.Hash}, State: store.AssetLive, Version: 1,
		Asset: n.Asset, LineageSource: library.LineageExtracted, LineageTool: n.Lineage.Tool, Lineage: doc, Root: n.Asset.Hash,
	}
	for _, m := range n.Lineage.Models {
		r.Models = append(r.Models, store.DocumentModel{Hash: library.NewModelHash(m.Type, m.Name), Type: m.Type, Name: m.Name, NodeID: m.NodeID, Weight: m.Strength})
	}
	return r
}

func typicalDocument() mappings.Document {
	_ = time.Now
	return Build(rowOf(typicalAsset("a.png")))
}
