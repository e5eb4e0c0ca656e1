package scene

// times are the hours of the day a landscape can have.
var times = map[string]Term{
	"dawn":    {"dawn", "dawn", "at dawn", "夜明け", "黎明"},
	"morning": {"morning", "morning light", "on a clear morning", "朝", "清晨"},
	"noon":    {"noon", "midday", "at midday", "昼", "正午"},
	"golden":  {"golden", "golden hour", "in the golden hour", "黄昏の光", "黄金时刻"},
	"dusk":    {"dusk", "dusk", "at dusk", "夕暮れ", "黄昏"},
	"night":   {"night", "night", "at night", "夜", "夜晚"},
}

var allTimes = []string{"dawn", "morning", "noon", "golden", "dusk", "night"}

var moods = []Term{
	{"serene", "serene", "a serene mood", "静か", "宁静"},
	{"dreamy", "dreamy", "a dreamy mood", "夢幻的", "梦幻"},
	{"mysterious", "mysterious", "an air of mystery", "神秘的", "神秘"},
	{"majestic", "majestic", "a majestic mood", "雄大", "壮丽"},
	{"cozy", "cozy", "a cozy mood", "居心地よい", "温馨"},
	{"melancholic", "melancholic", "a touch of melancholy", "切ない", "忧郁"},
	{"joyful", "joyful", "a joyful mood", "楽しい", "欢乐"},
	{"epic", "epic", "an epic scale", "壮大", "史诗"},
}

var media = []Term{
	{"illustration", "digital illustration", "A digital illustration", "イラスト", "插画"},
	{"oil", "oil painting", "An oil painting", "油絵", "油画"},
	{"watercolor", "watercolor", "A watercolor", "水彩画", "水彩"},
	{"photo", "cinematic photo", "A cinematic photograph", "写真", "摄影"},
	{"poster", "vintage poster", "A vintage travel poster", "ポスター", "复古海报"},
	{"render", "3d render", "A detailed 3D render", "3Dレンダー", "三维渲染"},
	{"gouache", "gouache", "A gouache study", "ガッシュ", "水粉画"},
	{"matte", "matte painting", "A matte painting", "マットペイント", "概念艺术"},
	{"print", "woodblock print", "A woodblock print", "木版画", "木版画"},
}
