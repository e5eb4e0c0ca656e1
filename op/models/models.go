// Package models holds the operations on the Model Library: which models a tenant
// uses, what they were used for, which versions of them there are. One file per
// operation. The library fills itself when files are stored; these operations
// show it and add what no file says.
package models

import (
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct {
	Models *store.Models
	Links  assets.Links
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{
		s.searchModels(), s.getModelDetails(), s.getAssetModels(), s.linkModelToAsset(), s.getModelVersions(), s.addModelVersion(),
	}
}

// exampleModel stands for a model in examples.
const exampleModel = "1f1f5ea8a7b1a36bcb8a0a3e7c8f7ce0a1c7e4a5"

// InModel is embedded by inputs that name a model.
type InModel struct {
	ModelHash string `json:"model_hash" id:"model" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a model_hash of 40 hex digits, as SearchModels gives it" doc:"From SearchModels."`
}

func (in InModel) hash() library.ModelHash { return library.ModelHash(strings.ToLower(in.ModelHash)) }

// Model is a model as lists show it.
type Model struct {
	Hash          library.ModelHash `json:"model_hash" doc:"Identifies a model by type and name."`
	Type          string            `json:"type" doc:"checkpoint, unet, lora, vae, clip, controlnet, upscaler, embedding, …"`
	Name          string            `json:"name" doc:"Name in the first file that used it."`
	DisplayName   string            `json:"display_name"`
	Description   string            `json:"description"`
	BaseModel     string            `json:"base_model" doc:"sdxl, flux, sd15, …; empty if unknown."`
	ContentHashes []string          `json:"content_hashes" doc:"Content hashes found in files."`
	TriggerWords  []string          `json:"trigger_words" doc:"Words that trigger it in a prompt, if known."`
	Uses          int               `json:"usage_count" doc:"Number of assets that use it, without those in the trash."`
	LastUsed      *time.Time        `json:"last_used_at" required:"true" nullable:"true" doc:"When the newest of them was created."`
	Versions      int               `json:"version_count"`
	CreatedAt     time.Time         `json:"created_at" doc:"When it was added to the library."`
}

func describe(m library.Model) Model {
	return Model{Hash: m.Hash, Type: m.Type, Name: m.Name, DisplayName: m.DisplayName, Description: m.Description, BaseModel: m.BaseModel,
		ContentHashes: m.ContentHashes, TriggerWords: m.TriggerWords, Uses: m.AssetCount, LastUsed: utc(m.LastUsed), Versions: m.Versions, CreatedAt: m.CreatedAt.UTC()}
}

// assetModel is one use of a model by an asset.
type assetModel struct {
	Hash            library.ModelHash `json:"model_hash"`
	Type            string            `json:"type"`
	Name            string            `json:"name" doc:"Name in the asset's file."`
	DisplayName     string            `json:"display_name"`
	BaseModel       string            `json:"base_model"`
	Weight          *float64          `json:"model_weight" required:"true" nullable:"true" doc:"null for checkpoints and if unknown."`
	ClipWeight      *float64          `json:"clip_weight" required:"true" nullable:"true" doc:"Weight on the text encoder, if it differs."`
	DetectionSource string            `json:"detection_source" doc:"extracted: from the file; any other value: linked with LinkModelToAsset."`
	Sequence        int               `json:"sequence" doc:"Load order within the detection source, from 0."`
	NodeID          string            `json:"node_id" doc:"Id of the loader node; empty outside node graphs."`
	ContentHash     string            `json:"content_hash" doc:"Hash in the file; empty if it has none."`
}

func describeUse(m store.AssetModel) assetModel {
	return assetModel{Hash: m.Hash, Type: m.Type, Name: m.Name, DisplayName: m.DisplayName, BaseModel: m.BaseModel, Weight: m.Weight,
		ClipWeight: m.ClipWeight, DetectionSource: m.DetectionSource, Sequence: m.Sequence, NodeID: m.NodeID, ContentHash: m.ContentHash}
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
