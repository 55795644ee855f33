/**
 * The same object with the snake_case fields that `names` lists under their camelCase names, as Python clients write
 * them. A field that is present in both spellings keeps its camelCase value.
 */
export function camelFields(
  value: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const found = Object.keys(value).filter((key) => Object.hasOwn(names, key))
  if (found.length === 0) return value
  return { ...Object.fromEntries(found.map((key) => [names[key], value[key]])), ...value }
}
