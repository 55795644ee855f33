// One direction of `npm run bench convert`, in a process of its own, as `millrace convert` has it: code that was compiled for
// another direction would be measured with it. Arguments: the packed core, from, to. Prints one line of JSON.
const [packedCore = '', from = '', to = ''] = process.argv.slice(2)
const { convertChunks, printFrame } = await import(packedCore)

const turns = 200
/** Rounds before the measurement, for both sides: after some 100,000 frames the code is compiled. */
const warming = 20
const repetitions = 31

const source = adkTurns()
const text = from === 'adk' ? source : flat(await converted(source, 'adk', from))
const read = dataOf(text)
const out = await converted(text, from, to)
const written = dataOf(out).map((data) => JSON.parse(data))
if (written.length < read.length / 2) throw new Error('too little was converted')

const pairs = []
for (let i = -warming; i < repetitions; i++) {
  const sides = [0, 0]
  for (const side of i % 2 === 0 ? [0, 1] : [1, 0]) {
    const begun = performance.now()
    await (side === 0 ? ours() : peer())
    sides[side] = performance.now() - begun
  }
  if (i >= 0) pairs.push(sides)
}
const bytes = { read: Buffer.byteLength(text), written: Buffer.byteLength(out) }
console.log(JSON.stringify({ pairs, frames: read.length, bytes }))

async function ours() {
  if ((await converted(text, from, to)).length !== out.length) throw new Error('something else was printed')
}

/** Studio has data that is bare text, which counts as a JSON string. */
function peer() {
  let values = 0
  let length = 0
  for (const data of read) if (JSON.parse(data) !== undefined) values += 1
  for (const value of written) length += JSON.stringify(value).length
  if (values !== read.length || length === 0) throw new Error('nothing was printed')
}

/** A text that was joined of many is read more slowly than one that came off a disk. */
function flat(joined) {
  return Buffer.from(joined).toString()
}

/** The data of each frame as JSON text. */
function dataOf(stream) {
  const lines = stream.split('\n').filter((line) => line.startsWith('data: '))
  return lines.map((line) => line.slice('data: '.length)).map((data) => (isJson(data) ? data : JSON.stringify(data)))
}

function isJson(data) {
  try {
    JSON.parse(data)
    return true
  } catch {
    return false
  }
}

async function converted(stream, dialect, other) {
  let printed = ''
  for await (const frames of convertChunks(stream, { from: dialect, to: other, run: 'r', now: () => 1 }))
    printed += frames.map(printFrame).join('')
  return printed
}

/** A run as `/run_sse` of ADK streams it: in each turn a call, its response, 40 partials and the aggregate. */
function adkTurns() {
  let id = 0
  const event = (part, rest = {}) =>
    `data: ${JSON.stringify({
      content: { role: 'model', parts: [part] },
      invocationId: 'e-a3237f79-5ffa-4fb8-b6b3-f71faa15d712',
      author: 'coordinator',
      actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
      longRunningToolIds: [],
      id: `e${id++}`,
      timestamp: 1_767_081_391_059 + id,
      ...rest,
    })}\n\n`
  const words = Array.from({ length: 40 }, (_, i) => (i === 20 ? 'Überblick ' : `word${i} `))
  return Array.from({ length: turns }, (_, turn) =>
    [
      event({ functionCall: { id: `c${turn}`, name: 'burn_analyst', args: { request: 'cedar-creek-2022' } } }),
      event({ functionResponse: { id: `c${turn}`, name: 'burn_analyst', response: { result: 'Confidence: 92%' } } }),
      ...words.map((text) => event({ text }, { partial: true })),
      event({ text: words.join('') }, { finishReason: 'STOP' }),
    ].join(''),
  ).join('')
}
