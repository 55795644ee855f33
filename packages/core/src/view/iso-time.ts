/**
 * Milliseconds as ISO 8601 in UTC, as Date.prototype.toISOString prints them. Core has no Date: it has no clock, and
 * the rest of Date comes with it. Outside what a Date can hold, the epoch.
 */
export function isoTime(milliseconds: number): string {
  const ms = Math.abs(milliseconds) <= 8.64e15 ? Math.trunc(milliseconds) : 0
  const days = Math.floor(ms / 86_400_000)
  const { year, month, day } = civil(days)
  const rest = ms - days * 86_400_000
  const time = [rest / 3_600_000, (rest / 60_000) % 60, (rest / 1000) % 60].map((each) => digits(Math.floor(each), 2))
  return `${years(year)}-${digits(month, 2)}-${digits(day, 2)}T${time.join(':')}.${digits(rest % 1000, 3)}Z`
}

/** Days since 1970 to a date, counting years from March so that the leap day is the last of a year. */
function civil(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  }
}

function years(year: number): string {
  if (year >= 0 && year <= 9999) return digits(year, 4)
  return `${year < 0 ? '-' : '+'}${digits(Math.abs(year), 6)}`
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0')
}
