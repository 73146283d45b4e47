package einops

import "sync"

// cache keeps the most recently used values: at least limit of them, at most twice as many.
// When there are limit young values, they become the old ones, and the previous old ones
// are dropped unless they have been asked for since. It is safe for concurrent use.
type cache[K comparable, V any] struct {
	limit      int
	mutex      sync.RWMutex
	young, old map[K]V
}

func (c *cache[K, V]) get(key K) (V, bool) {
	c.mutex.RLock()
	v, ok := c.young[key]
	var inOld bool
	if !ok {
		v, inOld = c.old[key]
	}
	c.mutex.RUnlock()
	if inOld {
		c.put(key, v)
	}
	return v, ok || inOld
}

func (c *cache[K, V]) put(key K, v V) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.young == nil || len(c.young) >= c.limit {
		c.young, c.old = make(map[K]V), c.young
	}
	c.young[key] = v
}

func (c *cache[K, V]) len() int {
	c.mutex.RLock()
	defer c.mutex.RUnlock()
	return len(c.young) + len(c.old)
}
