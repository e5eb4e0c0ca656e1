-- +goose Up

-- What was learned of an asset's picture when its preview was made. A row goes with its
-- asset; whatever it holds is made again when it is absent.
CREATE TABLE asset_previews (
  tenant_id   uuid NOT NULL,
  asset_h     text COLLATE "C" NOT NULL,
  placeholder bytea CHECK (length(placeholder) BETWEEN 5 AND 32), -- ThumbHash; null where no preview can be made
  facts       jsonb,                                             -- of a video or a 3D model
  made_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, asset_h),
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE
);
SELECT tenant_table('asset_previews');

-- Why a preview failed, as a code: damaged, too_large, no_ffmpeg, no_renderer.
ALTER TABLE preview_failures ADD COLUMN code text NOT NULL DEFAULT 'damaged';

-- +goose Down
ALTER TABLE preview_failures DROP COLUMN code;
DROP TABLE asset_previews;
