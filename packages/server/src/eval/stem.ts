/**
 * Porter's stemmer (M. F. Porter, 1980) with the departures of NLTK, which ADK's response match uses: scores are only
 * comparable with those of ADK when words have the same stems.
 */
export function stem(word: string): string {
  const known = irregular.get(word)
  if (known !== undefined) return known
  if (word.length <= 2) return word
  return [plurals, pasts, finalY, doubleSuffixes, fullSuffixes, lastSuffixes, finalE, doubleL].reduce(
    (text, step) => step(text),
    word,
  )
}

const irregular = new Map(
  Object.entries({
    sky: ['sky', 'skies'],
    die: ['dying'],
    lie: ['lying'],
    tie: ['tying'],
    news: ['news'],
    inning: ['innings', 'inning'],
    outing: ['outings', 'outing'],
    canning: ['cannings', 'canning'],
    howe: ['howe'],
    proceed: ['proceed'],
    exceed: ['exceed'],
    succeed: ['succeed'],
  }).flatMap(([root, forms]) => forms.map((form) => [form, root] as const)),
)

type Rule = readonly [suffix: string, replacement: string, applies?: (root: string) => boolean]

/** The first rule whose suffix fits decides, also when its condition does not hold. */
function byRules(word: string, rules: readonly Rule[]): string {
  const rule = rules.find(([suffix]) => word.endsWith(suffix))
  if (rule === undefined) return word
  const [suffix, replacement, applies] = rule
  const root = word.slice(0, word.length - suffix.length)
  return applies === undefined || applies(root) ? root + replacement : word
}

const positive = (root: string): boolean => measure(root) > 0
const large = (root: string): boolean => measure(root) > 1

const plurals = (word: string): string =>
  word.length === 4 && word.endsWith('ies')
    ? `${word[0]}ie`
    : byRules(word, [
        ['sses', 'ss'],
        ['ies', 'i'],
        ['ss', 'ss'],
        ['s', ''],
      ])

function pasts(word: string): string {
  if (word.endsWith('ied')) return word.slice(0, -3) + (word.length === 4 ? 'ie' : 'i')
  if (word.endsWith('eed')) return byRules(word, [['eed', 'ee', positive]])
  const suffix = ['ed', 'ing'].find((end) => word.endsWith(end) && hasVowel(word.slice(0, -end.length)))
  if (suffix === undefined) return word
  const root = word.slice(0, -suffix.length)
  if (/(at|bl|iz)$/.test(root)) return `${root}e`
  if (endsInDouble(root)) return /[lsz]$/.test(root) ? root : root.slice(0, -1)
  return measure(root) === 1 && endsInCvc(root) ? `${root}e` : root
}

const finalY = (word: string): string =>
  byRules(word, [['y', 'i', (root) => root.length > 1 && isConsonant(root, root.length - 1)]])

function doubleSuffixes(word: string): string {
  if (word.endsWith('alli') && positive(word.slice(0, -4))) return doubleSuffixes(word.slice(0, -2))
  return byRules(word, [
    ['ational', 'ate', positive],
    ['tional', 'tion', positive],
    ['enci', 'ence', positive],
    ['anci', 'ance', positive],
    ['izer', 'ize', positive],
    ['bli', 'ble', positive],
    ['alli', 'al', positive],
    ['entli', 'ent', positive],
    ['eli', 'e', positive],
    ['ousli', 'ous', positive],
    ['ization', 'ize', positive],
    ['ation', 'ate', positive],
    ['ator', 'ate', positive],
    ['alism', 'al', positive],
    ['iveness', 'ive', positive],
    ['fulness', 'ful', positive],
    ['ousness', 'ous', positive],
    ['aliti', 'al', positive],
    ['iviti', 'ive', positive],
    ['biliti', 'ble', positive],
    ['fulli', 'ful', positive],
    ['logi', 'log', (root) => positive(`${root}l`)],
  ])
}

const fullSuffixes = (word: string): string =>
  byRules(word, [
    ['icate', 'ic', positive],
    ['ative', '', positive],
    ['alize', 'al', positive],
    ['iciti', 'ic', positive],
    ['ical', 'ic', positive],
    ['ful', '', positive],
    ['ness', '', positive],
  ])

const lastSuffixes = (word: string): string =>
  byRules(word, [
    ...['al', 'ance', 'ence', 'er', 'ic', 'able', 'ible', 'ant', 'ement', 'ment', 'ent'].map(
      (suffix): Rule => [suffix, '', large],
    ),
    ['ion', '', (root) => large(root) && /[st]$/.test(root)],
    ...['ou', 'ism', 'ate', 'iti', 'ous', 'ive', 'ize'].map((suffix): Rule => [suffix, '', large]),
  ])

const finalE = (word: string): string =>
  byRules(word, [['e', '', (root) => large(root) || (measure(root) === 1 && !endsInCvc(root))]])

const doubleL = (word: string): string => (word.endsWith('ll') && large(word.slice(0, -1)) ? word.slice(0, -1) : word)

/** `y` is a vowel after a consonant. */
function isConsonant(word: string, at: number): boolean {
  const letter = word[at] ?? ''
  if (letter === 'y') return at === 0 || !isConsonant(word, at - 1)
  return !'aeiou'.includes(letter)
}

const shape = (word: string): string => [...word].map((_, at) => (isConsonant(word, at) ? 'c' : 'v')).join('')

/** How many times vowels are followed by consonants. */
const measure = (word: string): number => shape(word).match(/v+c+/g)?.length ?? 0

const hasVowel = (word: string): boolean => shape(word).includes('v')

const endsInDouble = (word: string): boolean =>
  word.length >= 2 && word.at(-1) === word.at(-2) && isConsonant(word, word.length - 1)

const endsInCvc = (word: string): boolean =>
  (shape(word).endsWith('cvc') && !/[wxy]$/.test(word)) || (word.length === 2 && shape(word) === 'vc')
