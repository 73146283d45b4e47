package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	tiktoken "github.com/tiktoken-go/tokenizer"
)

// languages says about the same in many languages and scripts.
var languages = []string{
	"The cat sits in the hat, and it's raining; we'll wait. They've 12,345 reasons!",
	"THE CAT'S HAT, WE'LL SEE, I'VE SEEN, YOU'RE RIGHT, I'M HERE, DON'T, HE'D",
	"Die Katze sitzt im Hut, und draußen regnet es – größer als 3,5 °C.",
	"Le chat est assis dans le chapeau ; il pleut aujourd'hui, n'est-ce pas ? « Bien sûr »",
	"El gato está en el sombrero. ¿Llueve? ¡Sí, muchísimo!",
	"O gato está no chapéu e não quer sair de lá amanhã.",
	"Il gatto è nel cappello: perché piove così tanto?",
	"Kočka sedí v klobouku a venku prší. Příliš žluťoučký kůň.",
	"Kot siedzi w kapeluszu, a na zewnątrz pada deszcz. Zażółć gęślą jaźń.",
	"A macska a kalapban ül, és esik az eső. Árvíztűrő tükörfúrógép.",
	"Kedi şapkanın içinde oturuyor; dışarıda yağmur yağıyor. İIıi",
	"Кошка сидит в шляпе, а на улице идёт дождь. Съешь ещё этих мягких булок.",
	"Кіт сидить у капелюсі, і надворі йде дощ. Ґанок, їжак.",
	"Η γάτα κάθεται στο καπέλο και έξω βρέχει.",
	"החתול יושב בכובע, ובחוץ יורד גשם. שָׁלוֹם",
	"القطة تجلس في القبعة، والمطر يهطل في الخارج. ١٢٣٤٥",
	"گربه در کلاه نشسته است و بیرون باران می\u200cبارد. ۱۲۳",
	"बिल्ली टोपी में बैठी है और बाहर बारिश हो रही है। १२३४",
	"বিড়ালটি টুপির মধ্যে বসে আছে, বাইরে বৃষ্টি হচ্ছে।",
	"பூனை தொப்பியில் அமர்ந்திருக்கிறது; வெளியே மழை பெய்கிறது.",
	"แมวนั่งอยู่ในหมวกและข้างนอกฝนตก",
	"Con mèo ngồi trong chiếc mũ, và ngoài trời đang mưa.",
	"猫坐在帽子里，外面下着雨。\n\n一共有１２３４只猫！",
	"貓坐在帽子裡，外面下著雨。",
	"猫が帽子の中に座っていて、外は雨です。カタカナ・ひらがな。",
	"고양이가 모자 안에 앉아 있고 밖에는 비가 온다.",
	"კატა ქუდში ზის და გარეთ წვიმს.",
	"Կատուն նստած է գլխարկի մեջ, դրսում անձրև է։",
	"ድመቷ ባርኔጣው ውስጥ ተቀምጣለች። ፲፪",
	"🐈‍⬛🎩 👨‍👩‍👧‍👦 🏳️‍🌈 ☔ 🇨🇭 \U0001f9d1\U0001f3fd",
	"func main() {\n\tfmt.Println(\"hi\")\t// a comment\r\n\n\n}\n   \n\t\tx := y[1:2]   ",
	"https://example.org/a_b?c=d&e=%20f#g 3.14159265358979 0x1F600 1e-9 ...!!!??? --- ___ ===",
	"Zalgo: Z̷̢͝a̵l̶g̸o̷ e\u0301 \u00a0nbsp\u00a0 \u2003em\u2003 \u200bzero\u200b\u0085next \u3000wide",
	" leading, trailing  \n ", "\n\n\n", "   ", "'s 't 're", "a", "",
}

// embedded is a vocabulary of tiktoken-go, and ours with the same tokens.
type embedded struct {
	peer tiktoken.Codec
	ours *BPE
}

// loadEmbedded reads the tokens out of the peer's vocabulary, one by one.
func loadEmbedded(name tiktoken.Encoding, size int, pattern *Pattern, special map[string]int32) (*embedded, error) {
	peer, err := tiktoken.Get(name)
	if err != nil {
		return nil, err
	}
	tokens := make([]rankedToken, size)
	for id := range tokens {
		text, err := peer.Decode([]uint{uint(id)})
		if err != nil {
			return nil, err
		}
		tokens[id] = rankedToken{[]byte(text), int32(id)}
	}
	ours, err := newRanked(tokens, pattern, special)
	return &embedded{peer, ours}, err
}

// The peer knows the vocabulary of GPT-2 as r50k_base.
var embeddedGPT2 = sync.OnceValues(func() (*embedded, error) {
	return loadEmbedded(tiktoken.R50kBase, 50256, GPT2, map[string]int32{"<|endoftext|>": 50256})
})

var embeddedCL100K = sync.OnceValues(func() (*embedded, error) {
	return loadEmbedded(tiktoken.Cl100kBase, 100256, CL100K, map[string]int32{"<|endoftext|>": 100257})
})

func mustEmbedded(t testing.TB, load func() (*embedded, error)) *embedded {
	t.Helper()
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestSameIDsAsTiktoken compares ids with tiktoken-go, both with the ranks and with the merges found from them.
func TestSameIDsAsTiktoken(t *testing.T) {
	for _, load := range []func() (*embedded, error){embeddedGPT2, embeddedCL100K} {
		e := mustEmbedded(t, load)
		merges := e.ours.Merges()
		if len(merges) != len(e.ours.tokens.ends)-256 {
			t.Fatalf("%s: found %d merges for %d tokens", e.peer.GetName(), len(merges), len(e.ours.tokens.ends))
		}
		merged, err := newBPE(e.ours.byteID, merges, e.ours.pattern, e.ours.Special())
		if err != nil {
			t.Fatal(err)
		}
		texts := append([]string(nil), languages...)
		texts = append(texts, strings.Join(languages, " "), strings.Join(languages, ""), strings.Join(languages, "\n"))
		rng := rand.New(rand.NewPCG(7, 8))
		for range 300 { // shuffled pieces of all languages, some cut within a word
			var b strings.Builder
			for range 5 {
				r := []rune(languages[rng.IntN(len(languages))])
				if len(r) > 0 {
					i := rng.IntN(len(r))
					b.WriteString(string(r[i:min(len(r), i+rng.IntN(12))]))
				}
			}
			texts = append(texts, b.String())
		}
		for _, text := range texts {
			ids, _, err := e.peer.Encode(text)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]int32, len(ids))
			for i, id := range ids {
				want[i] = int32(id)
			}
			for _, ours := range []*BPE{e.ours, merged} {
				if got := ours.Encode(text); !slices.Equal(got, want) {
					t.Errorf("%s: ids of %q:\n got %v\nwant %v", e.peer.GetName(), text, got, want)
				}
			}
			if got := e.ours.Decode(want); got != text {
				t.Errorf("%s: decoding %q gives %q", e.peer.GetName(), text, got)
			}
		}
	}
}
