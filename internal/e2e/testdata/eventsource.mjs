// Reads a stream of events until a collection is created, and prints the keys of the events, in
// the order in which they came, and how often it was connected.
import { EventSource } from 'eventsource'

const seen = []
let opened = 0
const headers = { 'X-API-Key': process.env.KEY }
const source = new EventSource(process.env.URL, { fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }) })
source.onopen = () => opened++
source.onmessage = (message) => {
  const event = JSON.parse(message.data)
  seen.push({ id: message.lastEventId, type: event.type, key: event.key })
  if (event.type === 'collection.created') {
    source.close()
    console.log(JSON.stringify({ opened, seen }))
  }
}
source.onerror = (error) => {
  if (source.readyState === EventSource.CLOSED) { // what is refused is not tried again
    console.error('refused:', error.code, error.message)
    process.exit(1)
  }
}
