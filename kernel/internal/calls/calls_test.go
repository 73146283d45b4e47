package calls

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

var errEnded = errors.New("it has ended")

// other is a program at the other end.
type other struct {
	asked io.Reader // what we write
	say   *io.PipeWriter
}

func connect() (*Conn[string], other) {
	asked, w := io.Pipe()
	r, say := io.Pipe()
	c := New[string](w)
	go c.Read(r, errEnded, func(message []byte) error {
		var m struct {
			Number int
			Text   string
		}
		if err := json.Unmarshal(message, &m); err != nil {
			return err
		}
		c.Answer(m.Number, m.Text)
		return nil
	})
	return c, other{asked, say}
}

func (o other) message(text string) {
	fmt.Fprintf(o.say, "Content-Length: %d\r\n\r\n%s", len(text), text)
}

func question(number int) any { return number }

func TestAnswersFindTheirQuestions(t *testing.T) {
	c, o := connect()
	const n = 5
	type pair struct{ got, want string }
	got := make(chan pair, n)
	for range n {
		go func() {
			var number int
			answer, err := c.Call(context.Background(), func(i int) any { number = i; return i })
			if err != nil {
				t.Error(err)
			}
			got <- pair{answer, fmt.Sprint("answer ", number)}
		}()
	}
	br := bufio.NewReader(o.asked)
	var numbers []int
	for range n {
		b, err := receive(br)
		if err != nil {
			t.Fatal(err)
		}
		var number int
		json.Unmarshal(b, &number)
		numbers = append([]int{number}, numbers...)
	}
	o.message(`{"number":99,"text":"nobody asked"}`)
	for _, number := range numbers { // the last question first
		o.message(fmt.Sprintf(`{"number":%d,"text":"answer %d"}`, number, number))
	}
	for range n {
		if p := <-got; p.got != p.want {
			t.Errorf("%q, want %q", p.got, p.want)
		}
	}
}

func TestNobodyWaitsForEver(t *testing.T) {
	c, o := connect()
	go io.Copy(io.Discard, o.asked)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	if _, err := c.Call(ctx, question); err != why {
		t.Errorf("given up: %v", err)
	}
	if _, err := c.Call(context.Background(), func(int) any { o.say.Close(); return 0 }); err != errEnded {
		t.Errorf("while it ends: %v", err)
	}
	if _, err := c.Call(context.Background(), question); err != errEnded {
		t.Errorf("afterwards: %v", err)
	}
	if _, err := New[string](io.Discard).Call(context.Background(), func(int) any { return make(chan int) }); err == nil {
		t.Error("a question that is no JSON was sent")
	}
}

// A message that is none ends the connection rather than fill the memory.
func TestBrokenMessages(t *testing.T) {
	for _, text := range []string{"Content-Length: x\r\n\r\n{}", "Content-Length: -1\r\n\r\n", "Content-Length: 99999999999\r\n\r\n{}", "Content-Length: 9\r\n\r\n{}", "{}\r\n\r\n"} {
		if m, err := receive(bufio.NewReader(strings.NewReader(text))); err == nil {
			t.Errorf("%q: message %q", text, m)
		}
	}
}
