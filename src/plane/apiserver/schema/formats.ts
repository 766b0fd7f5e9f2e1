const int32Limit = 2 ** 31;
const dateTimePattern = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/;

/** Returns whether the text is an RFC 3339 date and time, as Kubernetes' Time parses it. */
function isDateTime(text: string): boolean {
  return readDateTime(text) !== undefined;
}

/**
 * Returns an RFC 3339 date and time in milliseconds since the epoch. Undefined for any other text, and for a time whose UTC year does
 * not have four digits.
 */
export function readDateTime(text: string): number | undefined {
  const match = dateTimePattern.exec(text);
  if (match === null || !isDate(match[1]!)) return undefined;
  const [, , hour, minute, second, , offsetHours = 0, offsetMinutes = 0] = match;
  if ([hour, offsetHours].some((each) => Number(each) > 23)) return undefined;
  if ([minute, second, offsetMinutes].some((each) => Number(each) > 59)) return undefined;
  const moment = new Date(text.toUpperCase());
  const year = moment.getUTCFullYear();
  return year >= 0 && year <= 9999 ? moment.getTime() : undefined;
}

/** Returns whether the text is an RFC 3339 time with six fractional digits, the only form that Kubernetes' MicroTime parses. */
export function isMicroTime(text: string): boolean {
  return /\.\d{6}([Zz]|[+-]\d{2}:\d{2})$/.test(text) && isDateTime(text);
}

export function isBase64(text: string): boolean {
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text.replace(/[\r\n]/g, ''));
}

export function isInt32(value: number): boolean {
  return Number.isInteger(value) && value >= -int32Limit && value < int32Limit;
}

/** Returns whether the number is a 64-bit integer. JSON parsing rounds numbers beyond 2^53, so the bounds are only as exact as a double. */
export function isInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}

/** String format in a CRD's schema -> whether a text has it. The server does not check other formats. */
export const stringFormats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['byte', isBase64],
  ['date', isDate],
  ['date-time', isDateTime],
]);

/** Number format in a CRD's schema -> whether a number has it. */
export const numberFormats: ReadonlyMap<string, (value: number) => boolean> = new Map([
  ['int32', isInt32],
  ['int64', isInt64],
]);

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(match[3]);
}
