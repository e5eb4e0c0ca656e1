package e2e

// keyCases are, for each type of stage, what each key of its configuration does. The assets are a to e with the ratings 1 to 5; a, c and e have the
// tag odd and the status Draft, b and d the tag even and the status Approved; a, b and c were made with 10, 20 and 30 steps and the seeds 2^64-1, 7 and 7,
// a and b with the same prompt; the collection shelf has c, a and b (a key visual), and shelf.top has e.
var keyCases = map[string][]keyCase{
	"search": {
		{key: "query", text: `search "tag:even" | sort rating`, want: "b d"},
		{key: "search_mode", text: `search owe search_mode=partial order_by=title`, want: "a b c d e"},
		{key: "filters", text: `search "" filters={"tags":["odd"],"status":"Draft"} | sort rating`, want: "a c e"},
		{key: "filters.tags", text: `search "" filters={"tags":["even","wip-b"]}`, want: "b"},
		{key: "filters.status", text: `search "" filters={"status":"Approved"} | sort rating`, want: "b d"},
		{key: "filters.mime_type", text: `search "" filters={"mime_type":"video/*"}`, want: ""},
		{key: "filters.created_after", text: `search "" filters={"created_after":"2999-01-01"}`, want: ""},
		{key: "filters.created_before", text: `search "" filters={"created_before":"2000-01-01"}`, want: ""},
		{key: "limit", text: `search "" order_by=rating limit=2`, want: "e d"},
		{key: "order_by", text: `search "rating:>1" order_by=title`, want: "b c d e"},
		{key: "order", text: `search "" order_by=rating order=asc`, want: "a b c d e"},
	},
	"collection": {
		{key: "path", text: `collection shelf`, want: "c a b"},
		{key: "include_nested", text: `collection shelf include_nested=true`, want: "c a b e"},
		{key: "role", text: `collection shelf role=KeyVisual`, want: "b"},
	},
	"ids": {
		{key: "asset_ids", text: `ids $c $a $c`, want: "c a"},
		{key: "asset_hs", text: `ids asset_hs=["$b","$d"]`, want: "b d"},
	},
	"diff": {
		{key: "set_a", text: `diff set_a={"asset_ids":["$a","$b","$c"]} set_b={"path":"box"}`, want: "a b c"},
		{key: "set_b", text: `diff set_a={"path":"shelf"} set_b={"type":"search","query":"tag:even"}`, want: "c a"},
		{key: "mode", text: `diff only_in_b set_a={"path":"shelf"} set_b={"asset_ids":["$e","$a","$d"]}`, want: "e d"},
		{key: "mode", text: `diff both set_a={"path":"shelf"} set_b={"asset_ids":["$e","$a","$b"]}`, want: "a b"},
		{key: "mode", text: `diff either set_a={"path":"shelf"} set_b={"asset_ids":["$e","$a"]}`, want: "c a b e"},
	},
	"where": {
		{key: "field", text: `where field=title value="tower B"`, want: "b"},
		{key: "operator", text: `where field=rating operator=ne value=3`, want: "a b d e"},
		{key: "operator", text: `where field=rating operator=gt value=3`, want: "d e"},
		{key: "operator", text: `where field=rating operator=gte value=3`, want: "c d e"},
		{key: "operator", text: `where field=rating operator=lt value=3`, want: "a b"},
		{key: "operator", text: `where field=rating operator=lte value=3`, want: "a b c"},
		{key: "operator", text: `where field=seed operator=in value=[18446744073709551615]`, want: "a"},
		{key: "operator", text: `where field=seed operator=not_in value=[7]`, want: "a d e"},
		{key: "operator", text: `where field=title operator=contains value="er c"`, want: "c"},
		{key: "operator", text: `where field=prompt operator=starts_with value="A  F"`, want: "b"},
		{key: "operator", text: `where field=title operator=ends_with value=" d"`, want: "d"},
		{key: "operator", text: `where field=title operator=matches value="[ce]$"`, want: "c e"},
		{key: "operator", text: `where field=steps operator=exists`, want: "a b c"},
		{key: "operator", text: `where field=metadata.none operator=missing`, want: "a b c d e"},
		{key: "operator", text: `where field=metadata.score operator=between value=[2,4]`, want: "b c d"},
		{key: "value", text: `where field=rating value=4`, want: "d"},
		{key: "all", text: `where all=[{"field":"rating","operator":"gt","value":1},{"field":"status","value":"Draft"}]`, want: "c e"},
		{key: "any", text: `where any=[{"field":"rating","value":1},{"field":"steps","value":30}]`, want: "a c"},
		{key: "not", text: `where not={"field":"tags","operator":"contains","value":"odd"}`, want: "b d"},
		{key: "query", text: `where query="steps:20..30"`, want: "b c"},
		{key: "expression", text: `where steps > 10 and metadata.score = 3`, want: "c"},
	},
	"sort": {
		{key: "by", text: `sort metadata.score`, want: "e d c b a"},
		{key: "order", text: `sort rating desc`, want: "e d c b a"},
		{key: "keys", text: `sort keys=[{"by":"status"},{"by":"rating","order":"desc"}]`, want: "d b e c a"},
		{key: "keys.by", text: `sort keys=[{"by":"metadata.score"}]`, want: "e d c b a"},
		{key: "keys.order", text: `sort keys=[{"by":"rating","order":"desc"}]`, want: "e d c b a"},
	},
	"limit": {
		{key: "count", text: `limit 2`, want: "a b"},
		{key: "offset", text: `limit 2 offset=2`, want: "c d"},
	},
	"deduplicate": {
		{key: "by", text: `deduplicate prompt`, want: "b c d e"},
		{key: "by", text: `deduplicate seed`, want: "a c d e"},
		{key: "by", text: `deduplicate phash keep=first`, want: "a b c e", either: true},
		{key: "by", text: `deduplicate sha1`, want: "a b c d e"},
		{key: "field", text: `deduplicate field field=status`, want: "d e"},
		{key: "threshold", text: `deduplicate phash threshold=0`, want: "a b c d e"},
		{key: "keep", text: `deduplicate field field=status keep=first`, want: "a b"},
		{key: "keep", text: `deduplicate field field=status keep=oldest`, want: "a b"},
	},
	"sample": {
		{key: "count", text: `sample 2 stratify_by=status | count status`, want: "b c", result: `[["Approved",1],["Draft",1]]`},
		{key: "percent", text: `sample percent=60 | count`, want: "b c e", result: `[[3]]`},
		{key: "seed", text: `sample 1 seed=3`, want: "e"},
		{key: "stratify_by", text: `sample percent=25 stratify_by=status | count status`, want: "b c", result: `[["Approved",1],["Draft",1]]`},
	},
	"set_tag": {
		{key: "tags", text: `set_tag best "very good"`, want: "a b c d e", probe: `where tags contains "very good"`, holds: "a b c d e"},
		{key: "mode", text: `set_tag tags=["solo","odd"] mode=replace`, want: "a b c d e", probe: `where tags contains "even"`, holds: ""},
	},
	"remove_tag": {
		{key: "tags", text: `remove_tag wip-? EVEN`, want: "a b c d e", probe: `where tags contains "odd"`, holds: "a c e"},
	},
	"set_field": {
		{key: "field", text: `set_field metadata.client.name acme`, want: "a b c d e", probe: `where metadata.client.name = "acme"`, holds: "a b c d e"},
		{key: "value", text: `set_field rating value=5`, want: "a b c d e", probe: `where rating = 5`, holds: "a b c d e"},
		{key: "value", text: `set_field tags value=["x","y"]`, want: "a b c d e", probe: `where tags contains "y"`, holds: "a b c d e"},
	},
	"regex_replace": {
		{key: "field", text: `regex_replace tags "^wip-([ab])$" "done-$1"`, want: "a b c d e", probe: `where tags contains "done-b"`, holds: "b"},
		{key: "pattern", text: `regex_replace title "(?P<last>[ab])$" "no. ${last}"`, want: "a b c d e", probe: `where title = "Tower no. a"`, holds: "a"},
		{key: "replacement", text: `regex_replace title "Tower" "$$5"`, want: "a b c d e", probe: `where title contains "$5"`, holds: "a b c d e"},
		{key: "flags", text: `regex_replace title tower Keep flags=i`, want: "a b c d e", probe: `where title contains "keep"`, holds: "a b c d e"},
	},
	"compute": {
		{key: "field", text: `compute metadata.ratio "round(width / height, 1)"`, want: "a b c d e", probe: `where metadata.ratio = 1.5`, holds: "a b c d e"},
		{key: "expression", text: `compute title "concat(tool, \" \", seed)"`, want: "a b c d e", probe: `where title contains "18446744073709551615"`, holds: "a"},
	},
	"set_visibility": {
		{key: "visibility", text: `set_visibility public`, want: "a b c d e", probe: `where visibility = "public"`, holds: "a b c d e"},
	},
	"set_owner": {
		{key: "owner", text: `set_owner key_other`, want: "a b c d e", probe: `where owner = "key_other"`, holds: "a b c d e"},
	},
	"enrich": {
		{key: "operations", text: `enrich dominant_color caption`, want: "a b c d e"},
	},
	"approve": {
		{key: "status", text: `approve Rejected`, want: "a b c d e", probe: `where status = "Rejected"`, holds: "a b c d e"},
		{key: "note", text: `approve note="too dark"`, want: "a b c d e", probe: `where metadata.review_note = "too dark" and status = "Approved"`, holds: "a b c d e"},
		{key: "confirm", text: `approve PendingApproval confirm=true`, want: "a b c d e", probe: `where status = "PendingApproval"`, holds: "a b c d e", either: true},
	},
	"add_to_collection": {
		{key: "path", text: `add_to_collection box`, want: "a b c d e", probe: `where collection contains "box"`, holds: "a b c d e"},
		{key: "role", text: `ids $a $b | add_to_collection shelf role=KeyVisual`, want: "a b", probe: `collection shelf role=KeyVisual`, holds: "a b"},
		{key: "create_if_missing", text: `add_to_collection box.new.deep create_if_missing=true`, want: "a b c d e", probe: `where collection contains "box.new.deep"`, holds: "a b c d e"},
	},
	"move": {
		{key: "from", text: `move shelf box`, want: "a b c d e", probe: `where collection contains "box"`, holds: "a b c"},
		{key: "to", text: `move shelf.top box`, want: "a b c d e", probe: `where collection contains "box"`, holds: "e"},
		{key: "create_if_missing", text: `move shelf attic create_if_missing=true`, want: "a b c d e", probe: `where collection contains "attic"`, holds: "a b c"},
	},
	"delete": {
		{key: "confirm", text: `where rating < 3 | delete confirm=true`, want: "", probe: `where rating > 0`, holds: "c d e"},
	},
	"archive": {
		{key: "confirm", text: `where rating < 3 | archive confirm=true`, want: "a b", probe: `where status = "Archived"`, holds: "a b"},
	},
	"export": {
		{key: "preset", text: `limit 1 | export archive confirm=true`, want: "a"},
		{key: "format", text: `limit 1 | export custom format=png confirm=true`, want: "a", either: true},
		{key: "options", text: `limit 1 | export custom options={"max_edge":16} confirm=true`, want: "a", either: true},
		{key: "confirm", text: `limit 1 | export share confirm=true`, want: "a"},
	},
	"notify": {
		{key: "event_type", text: `notify pipeline.completed confirm=true`, want: "a b c d e", either: true},
		{key: "data", text: `notify data={"channel":"x"} confirm=true`, want: "a b c d e", either: true},
		{key: "webhook_ids", text: `notify webhook_ids=["webhook_1"] confirm=true`, want: "a b c d e", either: true},
		{key: "confirm", text: `notify confirm=true`, want: "a b c d e"},
	},
	"tee": {
		{key: "action", text: `limit 2 | tee action={"type":"add_to_collection","path":"box"} confirm=true`, want: "a b", probe: `where collection contains "box"`, holds: "a b"},
		{key: "action", text: `limit 2 | tee action={"type":"set_tag","config":{"tags":["seen"]}} confirm=true`, want: "a b", probe: `where tags contains "seen"`, holds: "a b"},
		{key: "confirm", text: `limit 2 | tee action={"type":"remove_tag","tags":["odd"]} confirm=true`, want: "a b", probe: `where tags contains "odd"`, holds: "c e"},
	},
	"count": {
		{key: "group_by", text: `count status`, want: "a b c d e", result: `[["Draft",3],["Approved",2]]`},
	},
	"group_by": {
		{key: "field", text: `group_by steps`, want: "a b c d e", result: `[[null,2],[10,1],[20,1],[30,1]]`},
		{key: "then", text: `group_by seed then=status`, want: "a b c d e", result: `[[18446744073709551615,"Draft",1],[7,"Approved",1],[7,"Draft",1],[null,"Approved",1],[null,"Draft",1]]`},
		{key: "top", text: `group_by status top=1`, want: "a b c d e", result: `[["Draft",3]]`},
	},
	"stats": {
		{key: "field", text: `stats steps`, want: "a b c d e", result: `[["steps",3,2,10,30,20,10,20,28,29.8]]`},
	},
	"histogram": {
		{key: "field", text: `histogram rating`, want: "a b c d e"},
		{key: "bins", text: `histogram rating bins=2`, want: "a b c d e", result: `[[1,3,2],[3,5,3]]`},
		{key: "interval", text: `histogram metadata.score interval=2`, want: "a b c d e", result: `[[0,2,1],[2,4,2],[4,6,2]]`},
	},
}
