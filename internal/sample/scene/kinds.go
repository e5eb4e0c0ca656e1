package scene

var landscapePalettes = []string{"red", "amber", "emerald", "teal", "blue", "violet", "pink", "gold", "autumn", "ice", "peacock", "sunset", "pastel", "mint", "monochrome"}

// kinds is the table of everything that can be painted.
var kinds = []*Kind{
	{
		Name: "mountains", Emoji: "🏔️", Paint: paintMountains, Times: allTimes, Palettes: landscapePalettes, Portrait: 0.3,
		Subjects: []Term{
			{"snowy", "snowy mountains", "snow-capped mountains", "雪山", "雪山"},
			{"misty", "misty mountains", "mountain ridges wrapped in mist", "霧の山々", "云雾山峦"},
			{"hills", "rolling hills", "rolling hills fading into the distance", "なだらかな丘", "连绵山丘"},
			{"snowy", "alpine peaks", "jagged alpine peaks", "アルプスの峰", "阿尔卑斯山峰"},
		},
		Traits: []Trait{
			{Term{"lake", "lake reflection", "mirrored in a still lake", "湖", "湖面倒影"}, 0.45},
			{Term{"mist", "drifting mist", "with mist drifting through the valleys", "霧", "薄雾"}, 0.35},
			{Term{"pines", "pine trees", "behind a row of dark pines", "松の木", "松树"}, 0.5},
			{Term{"flowers", "wildflower meadow", "above a meadow of wildflowers", "花畑", "野花"}, 0.4},
			{Term{"birds", "flock of birds", "while a flock of birds passes", "鳥の群れ", "飞鸟"}, 0.35},
		},
	},
	{
		Name: "fractal", Emoji: "🌀", Paint: paintFractal, Portrait: 0.1,
		Subjects: []Term{
			{"julia", "julia set fractal", "a Julia set fractal of curling spirals", "ジュリア集合", "朱利亚集合分形"},
			{"mandelbrot", "mandelbrot fractal", "a deep zoom into the Mandelbrot set", "マンデルブロ集合", "曼德博分形"},
			{"julia", "spiral fractal", "an endless spiral fractal", "螺旋フラクタル", "螺旋分形"},
		},
		Traits: []Trait{
			{Term{"glow", "glowing edges", "with glowing filigree edges", "光る縁", "发光边缘"}, 0.5},
			{Term{"intricate", "intricate details", "in endless intricate detail", "緻密", "精致细节"}, 0.6},
		},
	},
	{
		Name: "city", Emoji: "🌆", Paint: paintCity, Times: []string{"dusk", "night"}, Palettes: []string{"neon", "violet", "pink", "sunset", "blue", "teal", "red"}, Portrait: 0.35,
		Subjects: []Term{
			{"grid", "synthwave city", "a synthwave city behind a glowing grid", "シンセウェーブの街", "合成波城市"},
			{"street", "cyberpunk skyline", "a cyberpunk skyline above wet asphalt", "サイバーパンクの街並み", "赛博朋克天际线"},
			{"street", "neon city", "a neon city full of lit windows", "ネオン街", "霓虹都市"},
		},
		Traits: []Trait{
			{Term{"sun", "retro striped sun", "under a retro striped sun", "レトロな太陽", "复古太阳"}, 0.6},
			{Term{"grid", "neon grid", "with a neon grid running to the horizon", "ネオングリッド", "霓虹网格"}, 0.25},
			{Term{"rain", "rain", "in falling rain", "雨", "雨"}, 0.35},
		},
	},
	{
		Name: "glass", Emoji: "🪟", Paint: paintGlass, Portrait: 0.5,
		Subjects: []Term{
			{"fish", "stained glass fish", "a stained glass window of a fish", "ステンドグラスの魚", "彩色玻璃鱼"},
			{"rose", "stained glass rose", "a stained glass window of a rose", "ステンドグラスの薔薇", "彩色玻璃玫瑰"},
			{"butterfly", "stained glass butterfly", "a stained glass window of a butterfly", "ステンドグラスの蝶", "彩色玻璃蝴蝶"},
			{"sun", "stained glass sun", "a stained glass window of a radiant sun", "ステンドグラスの太陽", "彩色玻璃太阳"},
			{"heart", "stained glass heart", "a stained glass window of a heart", "ステンドグラスのハート", "彩色玻璃心"},
			{"moon", "stained glass moon", "a stained glass window of a crescent moon", "ステンドグラスの月", "彩色玻璃月亮"},
			{"bird", "stained glass bird", "a stained glass window of a bird", "ステンドグラスの鳥", "彩色玻璃鸟"},
			{"tree", "stained glass tree", "a stained glass window of a tree", "ステンドグラスの木", "彩色玻璃树"},
		},
		Traits: []Trait{
			{Term{"lead", "lead lines", "set in dark lead lines", "鉛線", "铅条"}, 0.5},
			{Term{"backlit", "backlit", "lit from behind by the sun", "逆光", "逆光"}, 0.5},
		},
	},
	{
		Name: "nebula", Emoji: "🌌", Paint: paintNebula, Palettes: []string{"red", "violet", "blue", "teal", "pink", "sunset", "neon", "emerald", "amber", "peacock"}, Portrait: 0.2,
		Subjects: []Term{
			{"nebula", "nebula", "a glowing nebula of gas and dust", "星雲", "星云"},
			{"galaxy", "spiral galaxy", "a spiral galaxy wheeling through space", "渦巻銀河", "螺旋星系"},
			{"nebula", "cosmic clouds", "cosmic clouds where stars are born", "宇宙の雲", "宇宙云"},
		},
		Traits: []Trait{
			{Term{"stars", "starfield", "against a field of stars", "星空", "星空"}, 0.7},
			{Term{"dust", "dark dust lanes", "crossed by dark lanes of dust", "暗黒星雲", "尘埃带"}, 0.4},
		},
	},
	{
		Name: "planet", Emoji: "🪐", Paint: paintPlanet, Portrait: 0.25,
		Subjects: []Term{
			{"gas", "gas giant", "a banded gas giant", "ガス惑星", "气态巨行星"},
			{"rocky", "alien planet", "an alien planet with unknown continents", "異星", "外星行星"},
			{"gas", "distant planet", "a distant planet in deep space", "遠い惑星", "遥远行星"},
		},
		Traits: []Trait{
			{Term{"rings", "planetary rings", "with wide rings", "環", "行星环"}, 0.65},
			{Term{"moons", "small moons", "and its small moons", "衛星", "卫星"}, 0.5},
			{Term{"stars", "starfield", "among countless stars", "星空", "星空"}, 0.5},
		},
	},
	{
		Name: "ocean", Emoji: "🌊", Paint: paintOcean, Times: allTimes, Palettes: []string{"teal", "blue", "emerald", "violet", "sunset", "ice", "peacock", "pastel", "monochrome", "amber"}, Portrait: 0.3,
		Subjects: []Term{
			{"waves", "ocean waves", "ocean waves rolling towards the shore", "海の波", "海浪"},
			{"stormy", "stormy sea", "a stormy sea with foaming crests", "荒れた海", "暴风雨的海"},
			{"calm", "open sea", "the open sea under a wide sky", "大海原", "辽阔大海"},
		},
		Traits: []Trait{
			{Term{"lighthouse", "lighthouse", "with a lighthouse on a rock", "灯台", "灯塔"}, 0.35},
			{Term{"ship", "sailing ship", "and a sailing ship on the horizon", "帆船", "帆船"}, 0.35},
			{Term{"gulls", "seagulls", "under circling gulls", "カモメ", "海鸥"}, 0.4},
		},
	},
	{
		Name: "koi", Emoji: "🎏", Paint: paintKoi, Palettes: []string{"red", "amber", "sunset", "autumn", "gold", "teal", "pink", "peacock"}, Portrait: 0.45,
		Subjects: []Term{
			{"koi", "koi pond", "koi gliding through a clear pond", "錦鯉の池", "锦鲤池"},
			{"koi", "koi fish from above", "koi fish seen from above", "上から見た鯉", "俯瞰锦鲤"},
		},
		Traits: []Trait{
			{Term{"lilies", "water lilies", "between water lilies", "睡蓮", "睡莲"}, 0.65},
			{Term{"rain", "raindrops on water", "while raindrops ring the surface", "雨の波紋", "雨滴涟漪"}, 0.35},
			{Term{"caustics", "sunlit ripples", "with sunlit ripples on the ground", "光の揺らぎ", "波光"}, 0.4},
		},
	},
	{
		Name: "mandala", Emoji: "🪷", Paint: paintMandala, Portrait: 0.1,
		Subjects: []Term{
			{"mandala", "mandala", "an ornate mandala", "曼荼羅", "曼陀罗"},
			{"mandala", "floral mandala", "a floral mandala of layered petals", "花の曼荼羅", "花卉曼陀罗"},
		},
		Traits: []Trait{
			{Term{"light", "light background", "on light paper", "明るい背景", "浅色背景"}, 0.3},
			{Term{"symmetry", "perfect symmetry", "in perfect symmetry", "左右対称", "对称"}, 0.6},
			{Term{"ornate", "ornate", "with beads and fine arcs", "装飾的", "华丽"}, 0.5},
		},
	},
	{
		Name: "deco", Emoji: "🌇", Paint: paintDeco, Palettes: []string{"gold", "teal", "peacock", "red", "emerald", "blue", "amber", "monochrome", "violet"}, Portrait: 0.6,
		Subjects: []Term{
			{"city", "art deco sunburst", "an art deco sunburst over a stepped skyline", "アールデコの太陽", "装饰艺术旭日"},
			{"waves", "art deco waves", "an art deco sun above scalloped waves", "アールデコの波", "装饰艺术海浪"},
		},
		Traits: []Trait{
			{Term{"gold", "gold lines", "drawn in fine gold lines", "金の線", "金色线条"}, 0.6},
			{Term{"geometric", "geometric", "built from geometric shapes", "幾何学", "几何"}, 0.5},
		},
	},
	{
		Name: "bauhaus", Emoji: "🔶", Paint: paintBauhaus, Portrait: 0.4,
		Subjects: []Term{
			{"bauhaus", "bauhaus composition", "a Bauhaus composition of circles and bars", "バウハウス", "包豪斯构图"},
			{"bauhaus", "abstract geometric shapes", "abstract geometric shapes on a grid", "抽象幾何学", "抽象几何"},
		},
		Traits: []Trait{
			{Term{"paper", "paper texture", "printed on rough paper", "紙の質感", "纸张纹理"}, 0.6},
			{Term{"minimal", "minimalist", "with minimalist restraint", "ミニマル", "极简"}, 0.4},
		},
	},
	{
		Name: "aurora", Emoji: "✨", Paint: paintAurora, Times: []string{"night"}, Palettes: []string{"emerald", "teal", "violet", "pink", "blue", "mint", "neon"}, Portrait: 0.35,
		Subjects: []Term{
			{"aurora", "aurora borealis", "the aurora borealis above a dark forest", "オーロラ", "极光"},
			{"aurora", "northern lights", "northern lights over the woods", "北極光", "北极光"},
		},
		Traits: []Trait{
			{Term{"lake", "lake reflection", "mirrored in a still lake", "湖", "湖面倒影"}, 0.45},
			{Term{"snow", "snowy ground", "over fresh snow", "雪原", "雪地"}, 0.4},
			{Term{"cabin", "cozy cabin", "and a cabin with warm windows", "山小屋", "小木屋"}, 0.4},
			{Term{"stars", "starry sky", "under a starry sky", "星空", "星空"}, 0.5},
		},
	},
	{
		Name: "tree", Emoji: "🌳", Paint: paintTree, Times: allTimes, Palettes: []string{"red", "amber", "emerald", "pink", "gold", "autumn", "sunset", "pastel", "mint", "violet"}, Portrait: 0.4,
		Subjects: []Term{
			{"leaves", "lone tree", "a lone tree on a hill", "一本の木", "孤树"},
			{"blossom", "blossoming tree", "a tree in full blossom", "満開の木", "盛开的树"},
			{"snow", "snow-covered tree", "a tree covered in snow", "雪の木", "雪树"},
			{"bare", "bare tree", "a bare tree against the sky", "枯れ木", "枯树"},
			{"leaves", "ancient oak", "an ancient oak on a hill", "樫の古木", "古橡树"},
		},
		Traits: []Trait{
			{Term{"petals", "falling petals", "with petals on the wind", "舞い散る花びら", "飘落花瓣"}, 0.4},
			{Term{"fireflies", "fireflies", "and fireflies in the grass", "蛍", "萤火虫"}, 0.25},
		},
	},
	{
		Name: "dunes", Emoji: "🏜️", Paint: paintDunes, Times: allTimes, Palettes: []string{"amber", "gold", "autumn", "sunset", "red", "pink", "pastel", "violet"}, Portrait: 0.3,
		Subjects: []Term{
			{"dunes", "desert dunes", "desert dunes with sharp crests", "砂丘", "沙丘"},
			{"dunes", "endless sand", "an endless sea of sand", "果てしない砂", "无尽沙海"},
		},
		Traits: []Trait{
			{Term{"caravan", "camel caravan", "crossed by a camel caravan", "ラクダの隊商", "骆驼商队"}, 0.4},
			{Term{"cactus", "cacti", "dotted with cacti", "サボテン", "仙人掌"}, 0.3},
			{Term{"heat", "heat haze", "in shimmering heat", "陽炎", "热浪"}, 0.3},
		},
	},
	{
		Name: "garden", Emoji: "🌸", Paint: paintGarden, Portrait: 0.45,
		Subjects: []Term{
			{"garden", "flower garden", "a flower garden seen from above", "花園", "花园"},
			{"phyllotaxis", "sunflower spiral", "the golden spiral of a flower head", "ひまわりの螺旋", "向日葵螺旋"},
			{"garden", "blooming flowers", "blooming flowers crowding each other", "咲き誇る花", "盛开的花"},
			{"phyllotaxis", "dahlia close-up", "a dahlia in close-up", "ダリア", "大丽花特写"},
		},
		Traits: []Trait{
			{Term{"dew", "morning dew", "covered in dew", "朝露", "晨露"}, 0.5},
			{Term{"macro", "macro photography", "as a macro shot", "マクロ撮影", "微距"}, 0.4},
		},
	},
	{
		Name: "flow", Emoji: "🖌️", Paint: paintFlow, Portrait: 0.4,
		Subjects: []Term{
			{"flow", "flowing brush strokes", "flowing brush strokes that follow unseen currents", "流れる筆致", "流动笔触"},
			{"flow", "abstract flow painting", "an abstract painting of swirling flow", "抽象画", "抽象流动画"},
		},
		Traits: []Trait{
			{Term{"light", "light background", "on a light canvas", "明るい背景", "浅色背景"}, 0.35},
			{Term{"swirl", "swirling motion", "full of swirling motion", "渦", "旋涡"}, 0.5},
			{Term{"texture", "impasto texture", "with thick impasto", "厚塗り", "厚涂"}, 0.4},
		},
	},
	{
		Name: "circuit", Emoji: "🔌", Paint: paintCircuit, Palettes: []string{"emerald", "teal", "blue", "violet", "neon", "amber", "red", "mint"}, Portrait: 0.25,
		Subjects: []Term{
			{"circuit", "circuit board", "a circuit board seen from above", "基板", "电路板"},
			{"circuit", "glowing microchips", "glowing microchips joined by copper traces", "光るマイクロチップ", "发光芯片"},
		},
		Traits: []Trait{
			{Term{"traces", "copper traces", "laced with copper traces", "銅の配線", "铜走线"}, 0.5},
			{Term{"glow", "glowing pads", "with glowing pads", "光るパッド", "发光焊盘"}, 0.5},
		},
	},
	{
		Name: "maze", Emoji: "🧩", Paint: paintMaze, Portrait: 0.3,
		Subjects: []Term{
			{"maze", "maze", "a maze whose ways change colour", "迷路", "迷宫"},
			{"maze", "labyrinth", "an endless labyrinth", "ラビリンス", "迷宫回廊"},
		},
		Traits: []Trait{
			{Term{"gradient", "color gradient", "running through every colour", "グラデーション", "渐变"}, 0.5},
			{Term{"topdown", "top-down view", "seen from above", "俯瞰", "俯视"}, 0.5},
		},
	},
	{
		Name: "geode", Emoji: "💎", Paint: paintGeode, Portrait: 0.3,
		Subjects: []Term{
			{"geode", "agate geode", "a cut agate geode", "瑪瑙", "玛瑙晶洞"},
			{"geode", "crystal geode", "a geode with a heart of crystals", "晶洞", "水晶晶洞"},
		},
		Traits: []Trait{
			{Term{"gold", "gold veins", "with veins of gold", "金の筋", "金色纹理"}, 0.55},
			{Term{"bands", "banded stone", "in fine bands", "縞模様", "条纹石"}, 0.5},
			{Term{"macro", "macro photography", "as a macro shot", "マクロ撮影", "微距"}, 0.35},
		},
	},
	{
		Name: "window", Emoji: "🌧️", Paint: paintWindow, Times: []string{"night", "dusk"}, Palettes: []string{"blue", "teal", "violet", "amber", "pink", "neon", "sunset", "red"}, Portrait: 0.5,
		Subjects: []Term{
			{"window", "rainy window", "a rainy window with city lights behind it", "雨の窓", "雨窗"},
			{"window", "bokeh lights", "bokeh lights through wet glass", "玉ボケ", "散景灯光"},
		},
		Traits: []Trait{
			{Term{"cup", "cup of coffee", "and a steaming cup of coffee", "コーヒー", "咖啡"}, 0.35},
			{Term{"drops", "raindrops", "covered in raindrops", "雨粒", "雨滴"}, 0.6},
		},
	},
	{
		Name: "lanterns", Emoji: "🏮", Paint: paintLanterns, Times: []string{"night"}, Palettes: []string{"amber", "red", "violet", "blue", "sunset", "pink", "gold"}, Portrait: 0.45,
		Subjects: []Term{
			{"lanterns", "floating lanterns", "floating paper lanterns over dark water", "空に浮かぶ灯籠", "孔明灯"},
			{"lanterns", "lantern festival", "a lantern festival by the lake", "ランタン祭り", "灯会"},
		},
		Traits: []Trait{
			{Term{"boat", "small boat", "with a small boat", "小舟", "小船"}, 0.5},
			{Term{"reflection", "water reflection", "doubled by the water", "水面の反射", "水面倒影"}, 0.5},
			{Term{"stars", "starry sky", "under a starry sky", "星空", "星空"}, 0.4},
		},
	},
	{
		Name: "balloons", Emoji: "🎈", Paint: paintBalloons, Times: []string{"dawn", "morning", "noon", "golden", "dusk"}, Palettes: []string{"red", "amber", "teal", "blue", "violet", "pink", "sunset", "pastel", "peacock", "mint", "autumn"}, Portrait: 0.45,
		Subjects: []Term{
			{"balloons", "hot air balloons", "hot air balloons over a wide valley", "熱気球", "热气球"},
			{"balloons", "balloon festival", "a balloon festival in the hills", "気球フェスティバル", "热气球节"},
		},
		Traits: []Trait{
			{Term{"mist", "morning mist", "above drifting mist", "朝霧", "晨雾"}, 0.5},
			{Term{"stripes", "striped balloons", "in bright stripes", "縞模様", "条纹"}, 0.4},
		},
	},
	{
		Name: "jellyfish", Emoji: "🪼", Paint: paintJellyfish, Palettes: []string{"violet", "pink", "teal", "blue", "neon", "sunset", "mint", "amber"}, Portrait: 0.55,
		Subjects: []Term{
			{"jellyfish", "glowing jellyfish", "glowing jellyfish drifting through the deep sea", "光るクラゲ", "发光水母"},
			{"jellyfish", "bioluminescent jellyfish", "bioluminescent jellyfish in dark water", "発光クラゲ", "生物发光水母"},
		},
		Traits: []Trait{
			{Term{"deep", "deep sea", "far below the surface", "深海", "深海"}, 0.5},
			{Term{"rays", "light rays", "under slanting light rays", "光の筋", "光束"}, 0.4},
			{Term{"bubbles", "tiny bubbles", "among tiny bubbles", "気泡", "气泡"}, 0.4},
		},
	},
}
