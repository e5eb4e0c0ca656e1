// Package embed turns texts into vectors whose nearness is nearness of meaning.
//
// In come short texts; out come unit vectors of one length, and the identity of
// the configuration that made them, because only vectors of one configuration can
// be compared. Two drivers make them: a sentence model that runs inside this
// process from a folder of files, and any server that speaks the OpenAI
// embeddings protocol. Without a driver there is no Embedder, and the product
// searches by words.
//
// It never stores anything, never fetches a model, and never lets a provider's
// key into a log or an error.
package embed
