-- +goose Up

-- Vectors of texts, so that no text is embedded twice. A vector follows from its
-- configuration and its text alone, whoever's text it is, so there is no tenant;
-- only the indexer reads here. A null vector: the provider refuses the text.
CREATE TABLE embeddings (
  configuration text COLLATE "C" NOT NULL,
  text_h        bytea NOT NULL CHECK (octet_length(text_h) = 32),
  vector        bytea, -- float32, little endian
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (configuration, text_h)
);
ALTER TABLE embeddings ALTER COLUMN vector SET STORAGE EXTERNAL; -- vectors do not compress
GRANT SELECT, INSERT, UPDATE, DELETE ON embeddings TO vitrine_indexer;

-- The embedding configuration that an index has a vector field for; empty: none.
ALTER TABLE index_generations ADD COLUMN embedding text COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE index_generations DROP COLUMN embedding;
DROP TABLE embeddings;
