-- +goose Up

-- Searches that people keep under a name, for everybody in the tenant.
CREATE TABLE saved_searches (
  tenant_id       uuid NOT NULL REFERENCES tenants,
  saved_search_id text COLLATE "C" NOT NULL,
  name            text NOT NULL,
  description     text NOT NULL DEFAULT '',
  query           text NOT NULL DEFAULT '',
  search_mode     text NOT NULL,
  filters         jsonb,
  order_by        text NOT NULL,
  direction       text NOT NULL DEFAULT '', -- asc or desc; empty: as the order has it
  created_at      timestamptz NOT NULL DEFAULT now(),
  created_by      text NOT NULL,
  updated_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, saved_search_id)
);
CREATE UNIQUE INDEX saved_searches_name ON saved_searches (tenant_id, lower(name));

ALTER TABLE saved_searches ENABLE ROW LEVEL SECURITY;
ALTER TABLE saved_searches FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON saved_searches TO vitrine_app
  USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON saved_searches TO vitrine_app;

-- +goose Down
DROP TABLE saved_searches;
