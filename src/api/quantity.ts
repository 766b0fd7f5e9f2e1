/** The notation of a quantity, which formatting preserves. Sums keep the notation of the left operand. */
export type QuantityFormat =
  /** Powers of 1000: n u m (none) k M G T P E. */
  | 'decimal'
  /** Powers of 1024: Ki Mi Gi Ti Pi Ei. */
  | 'binary'
  /** A decimal exponent: e3, E-6. */
  | 'exponent';

/**
 * A Kubernetes resource quantity: exactly `unscaled × 10^scale`. Binary quantities also have this form, so only functions that document it
 * round. One value has many representations: use `compareQuantities` to compare.
 */
export interface Quantity {
  /** A number if it is a safe integer, else a BigInt. */
  readonly unscaled: number | bigint;
  /** At least −9: the finest unit of Kubernetes is a billionth. */
  readonly scale: number;
  readonly format: QuantityFormat;
}

/** A text or JSON value that is not a Kubernetes quantity. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
  /** The invalid text. */
  readonly text: string;

  constructor(text: string, problem: string) {
    super(
      `${shown(text)} is not a quantity: ${problem}. Write a number with an optional suffix: ` +
        'n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3; for example "500m", "2" or "1.5Gi"',
    );
    this.text = text;
  }
}

/** Kubernetes' finest unit, 10^−9. Parsing rounds finer amounts up to it. */
const finestScale = -9;
/** Kubernetes caps amounts with binary suffixes at this value, and others not at all. */
const maxBinaryAmount = 2n ** 63n - 1n;
/** Number of decimal digits that a double always represents exactly. */
const exactDigits = 15;
/** Parsing rejects texts and amounts with more digits: neither a million digits nor "1e999999999" may cost time or memory. */
const maxDigits = 300;
/** Maximum number of characters of an invalid text in an error. */
const maxShownLength = 100;

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
/** suffix -> power of ten */
const decimalExponents: ReadonlyMap<string, number> = new Map(
  decimalSuffixes.map((suffix, index) => [suffix, index * 3 + finestScale]),
);
/** suffix -> power of two */
const binaryShifts: ReadonlyMap<string, number> = new Map(
  binarySuffixes.slice(1).map((suffix, index) => [suffix, (index + 1) * 10]),
);
const powersOfTen = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/** Zero, formatted as "0". */
export const zeroQuantity: Quantity = { unscaled: 0, scale: 0, format: 'decimal' };

/**
 * Parses a quantity as Kubernetes does: optional sign, digits with an optional point, and a suffix of one of the three notations. Rounds
 * fractions of 10^−9 away from zero and caps binary amounts at ±(2^63 − 1). Also accepts a JSON number. Throws QuantityError for anything
 * else. Stricter than Kubernetes in two points: rejects "." and "+", and texts and amounts with more than 300 digits.
 */
export function parseQuantity(input: unknown): Quantity {
  if (typeof input === 'number') {
    if (Number.isSafeInteger(input) && !Object.is(input, -0)) return { unscaled: input, scale: 0, format: 'decimal' };
    return parseText(String(input));
  }
  if (typeof input !== 'string')
    throw new QuantityError(JSON.stringify(input) ?? 'undefined', 'it must be a string or a number');
  return parseText(input);
}

function parseText(text: string): Quantity {
  const end = text.length;
  let at = 0;
  const first = text.charCodeAt(0);
  const negative = first === 45;
  if (negative || first === 43) at = 1;
  const start = at;
  let accumulated = 0;
  let significant = 0; // digits after the leading zeros
  let seen = 0;
  let point = -1;
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) {
      seen++;
      if (significant > 0 || code !== 48) significant++;
      if (significant <= exactDigits) accumulated = accumulated * 10 + (code - 48);
    } else if (code === 46 && point < 0) point = at;
    else break;
  }
  if (seen === 0)
    throw new QuantityError(text, text === '' ? 'it is empty' : 'it has no digits where the number should be');
  if (seen > maxDigits) throw new QuantityError(text, `it has more than ${maxDigits} digits`);
  const fraction = point < 0 ? 0 : at - point - 1;
  const magnitude = significant <= exactDigits ? accumulated : BigInt(text.slice(start, at).replace('.', ''));
  if (at === end && fraction === 0 && significant <= exactDigits) return signed(magnitude, 0, 'decimal', negative);
  const suffix = text.slice(at);
  const shift = binaryShifts.get(suffix);
  if (shift !== undefined) return binaryQuantity(magnitude, -fraction, shift, negative);
  const exponent = decimalExponents.get(suffix);
  if (exponent === undefined && !/^[eE][+-]?[0-9]+$/.test(suffix)) {
    throw new QuantityError(text, `${shown(suffix)} is not a suffix`);
  }
  const scale = (exponent ?? Number(suffix.slice(1))) - fraction;
  const format = exponent === undefined ? 'exponent' : 'decimal';
  if (significant === 0) return { unscaled: 0, scale: 0, format };
  if (significant + scale > maxDigits) throw new QuantityError(text, 'it is too large');
  if (scale >= finestScale) return signed(magnitude, scale, format, negative);
  // The digits limit the magnitude, so an exponent of any size costs nothing.
  if (significant + scale <= finestScale) return signed(1, finestScale, format, negative);
  return signed(divideUp(magnitude, finestScale - scale), finestScale, format, negative);
}

/** Returns the text in quotes, truncated if it is long. */
function shown(text: string): string {
  return JSON.stringify(text.length <= maxShownLength ? text : `${text.slice(0, maxShownLength)}…`);
}

function binaryQuantity(magnitude: number | bigint, scale: number, shift: number, negative: boolean): Quantity {
  if (magnitude === 0) return { unscaled: 0, scale: 0, format: 'binary' };
  let unscaled: number | bigint = typeof magnitude === 'number' ? magnitude * 2 ** shift : magnitude << BigInt(shift);
  if (typeof unscaled === 'number' && unscaled > Number.MAX_SAFE_INTEGER) unscaled = BigInt(magnitude) << BigInt(shift);
  if (scale < finestScale) {
    unscaled = divideUp(unscaled, finestScale - scale);
    scale = finestScale;
  }
  const whole = rescaleUp(unscaled, scale, 0);
  if (whole > maxBinaryAmount) return signed(maxBinaryAmount, 0, 'binary', negative);
  // As in Kubernetes, binary notation has no fractions of a byte.
  const belowOne = scale < 0 && whole === 1 && Number(unscaled) < powersOfTen[-scale]!;
  return signed(unscaled, scale, belowOne ? 'decimal' : 'binary', negative);
}

function signed(magnitude: number | bigint, scale: number, format: QuantityFormat, negative: boolean): Quantity {
  const unscaled = negative && magnitude !== 0 ? -magnitude : magnitude;
  return { unscaled: narrow(unscaled), scale, format };
}

/** Converts a BigInt in the safe integer range to a number, so that each integer has one representation. */
function narrow(value: number | bigint): number | bigint {
  if (typeof value === 'number') return value;
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** Returns value / 10^places, rounded away from zero. */
function divideUp(value: number | bigint, places: number): number | bigint {
  if (typeof value === 'number' && places <= exactDigits) {
    const divisor = powersOfTen[places]!;
    const remainder = value % divisor;
    // The division is exact: value − remainder is a multiple of the divisor.
    return (value - remainder) / divisor + Math.sign(remainder);
  }
  const dividend = BigInt(value);
  const divisor = 10n ** BigInt(places);
  const remainder = dividend % divisor;
  return narrow(dividend / divisor + (remainder > 0n ? 1n : remainder < 0n ? -1n : 0n));
}

/** Returns value × 10^scale in units of 10^targetScale, rounded away from zero. */
function rescaleUp(value: number | bigint, scale: number, targetScale: number): number | bigint {
  const shift = scale - targetScale;
  if (shift === 0) return value;
  if (shift < 0) return divideUp(value, -shift);
  if (typeof value === 'number' && shift <= exactDigits) {
    const product = value * powersOfTen[shift]!;
    if (Number.isSafeInteger(product)) return product;
  }
  return narrow(BigInt(value) * 10n ** BigInt(shift));
}

/** Returns the amount in whole units, rounded away from zero (Kubernetes' Value()). Exact up to 2^53; beyond, the nearest double. */
export function quantityToInteger(quantity: Quantity): number {
  return Number(rescaleUp(quantity.unscaled, quantity.scale, 0));
}

/** Returns the amount in thousandths, rounded away from zero (Kubernetes' MilliValue()). Exact up to 2^53, like quantityToInteger. */
export function quantityToMilli(quantity: Quantity): number {
  return Number(rescaleUp(quantity.unscaled, quantity.scale, -3));
}

/** Returns a negative number, 0 or a positive number if `a` is less than, equal to or greater than `b`. Exact for all notations. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const scale = Math.min(a.scale, b.scale);
  const left = rescaleUp(a.unscaled, a.scale, scale);
  const right = rescaleUp(b.unscaled, b.scale, scale);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns a + b, exactly, in the notation of a, or in that of b if a is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const scale = Math.min(a.scale, b.scale);
  const left = rescaleUp(a.unscaled, a.scale, scale);
  const right = rescaleUp(b.unscaled, b.scale, scale);
  const format = left === 0 ? b.format : a.format;
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return { unscaled: sum, scale, format };
  }
  return { unscaled: narrow(BigInt(left) + BigInt(right)), scale, format };
}

/**
 * Returns Kubernetes' canonical text: the largest suffix of the notation that leaves no fraction. Binary quantities below 1024 or with a
 * fraction use decimal suffixes.
 */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.unscaled === 0) return '0';
  if (quantity.format === 'binary') {
    const text = formatBinary(quantity);
    if (text !== undefined) return text;
  }
  let digits = String(quantity.unscaled);
  let exponent = quantity.scale;
  const trailing = digits.length - digits.replace(/0+$/, '').length;
  digits = digits.slice(0, digits.length - trailing);
  exponent += trailing;
  let family = Math.floor(exponent / 3) * 3;
  if (quantity.format !== 'exponent') family = Math.min(family, 18);
  digits += '0'.repeat(exponent - family);
  if (quantity.format !== 'exponent') return digits + decimalSuffixes[family / 3 + 3]!;
  return family === 0 ? digits : `${digits}e${family}`;
}

function formatBinary(quantity: Quantity): string | undefined {
  const scale = Math.min(quantity.scale, 0);
  const aligned = BigInt(rescaleUp(quantity.unscaled, quantity.scale, scale));
  const unit = 10n ** BigInt(-scale);
  if (aligned % unit !== 0n) return undefined;
  let whole = aligned / unit;
  if (whole > -1024n && whole < 1024n) return undefined;
  let family = 0;
  for (; family < 6 && whole % 1024n === 0n; family++) whole /= 1024n;
  return `${whole}${binarySuffixes[family]!}`;
}
