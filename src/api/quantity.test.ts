import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  QuantityError,
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityToInteger,
  quantityToMilli,
} from './quantity.ts';
import type { Quantity } from './quantity.ts';
import { quantityText } from './testing/quantity-text.ts';

/** Returns the value in billionths, rounded away from zero. Uses only BigInt. */
function billionths(text: string): bigint {
  const [, signText, whole = '', part = '', unit = ''] = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(.*)$/.exec(text)!;
  let numerator = BigInt(whole + part || '0') * 10n ** 9n;
  let denominator = 10n ** BigInt(part.length);
  const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].indexOf(unit);
  const decimal = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].indexOf(unit);
  if (binary >= 0) numerator *= 1024n ** BigInt(binary + 1);
  else {
    const exponent = decimal >= 0 ? (decimal - 3) * 3 : Number(unit.slice(1));
    if (exponent >= 0) numerator *= 10n ** BigInt(exponent);
    else denominator *= 10n ** BigInt(-exponent);
  }
  let value = (numerator + denominator - 1n) / denominator;
  const largest = (2n ** 63n - 1n) * 10n ** 9n;
  if (binary >= 0 && value > largest) value = largest;
  return signText === '-' ? -value : value;
}

function value(quantity: Quantity): bigint {
  return BigInt(quantity.unscaled) * 10n ** BigInt(quantity.scale + 9);
}

describe('parseQuantity', () => {
  it.each([
    ['0', 0, 0],
    ['1', 1, 1000],
    ['100m', 1, 100],
    ['0.1', 1, 100],
    ['0.5', 1, 500],
    ['1.5', 2, 1500],
    ['128974848', 128974848, 128974848000],
    ['129e6', 129000000, 129000000000],
    ['129M', 129000000, 129000000000],
    ['128974848000m', 128974848, 128974848000],
    ['123Mi', 128974848, 128974848000],
    ['400m', 1, 400],
    ['1500m', 2, 1500],
    ['64Mi', 67108864, 67108864000],
    ['1Ki', 1024, 1024000],
    ['1k', 1000, 1000000],
    ['2E', 2e18, 2e21],
    ['12e6', 12000000, 12000000000],
    ['12E-3', 1, 12],
    ['1.5Gi', 1610612736, 1610612736000],
    ['.5', 1, 500],
    ['5.', 5, 5000],
    ['+7', 7, 7000],
    ['-1500m', -2, -1500],
    ['1n', 1, 1],
    ['0.1n', 1, 1],
    ['-1u', -1, -1],
  ])('parses %s as %d units and %d thousandths, rounded away from zero', (text, units, thousandths) => {
    const quantity = parseQuantity(text);
    expect(quantityToInteger(quantity)).toBe(units);
    expect(quantityToMilli(quantity)).toBe(thousandths);
  });

  it('accepts JSON numbers', () => {
    expect(formatQuantity(parseQuantity(4))).toBe('4');
    expect(formatQuantity(parseQuantity(0.5))).toBe('500m');
    expect(quantityToInteger(parseQuantity(1e21))).toBe(1e21);
    expect(parseQuantity(-0)).toEqual(parseQuantity('0'));
  });

  it('keeps amounts exact that a double would round', () => {
    expect(value(parseQuantity('9007199254740993'))).toBe(9007199254740993n * 10n ** 9n);
    expect(value(parseQuantity('9007199254740.993'))).toBe(9007199254740993n * 10n ** 6n);
    expect(formatQuantity(addQuantities(parseQuantity('9007199254740992'), parseQuantity('1')))).toBe(
      '9007199254740993',
    );
    // 9007199254740.991 plus a fraction: a double would round the quotient.
    expect(quantityToInteger(parseQuantity('9007199254740001m'))).toBe(9007199254741);
  });

  it('caps binary amounts that do not fit 64 bits, as Kubernetes does', () => {
    expect(value(parseQuantity('8Ei'))).toBe((2n ** 63n - 1n) * 10n ** 9n);
    expect(value(parseQuantity('-8Ei'))).toBe(-(2n ** 63n - 1n) * 10n ** 9n);
  });

  it.each([
    '',
    ' ',
    '1 ',
    ' 1',
    '.',
    '+',
    '-',
    '--1',
    '+-1',
    '1.1.1',
    '1.1.M',
    '1+1.0M',
    '0.1mi',
    '0.1am',
    'aoeu',
    '.5i',
    '1i',
    '-3.01i',
    '-3.01e-',
    '1e',
    '1e1.5',
    '1K',
    '1ki',
    '1KI',
    '1mm',
    '1Kib',
    '1,5',
    '0x10',
    '1_000',
    '∞',
    'NaN',
    'constructor',
    '1toString',
    '1e400',
  ])('rejects %j and describes the expected format', (text) => {
    expect(() => parseQuantity(text)).toThrow(QuantityError);
    expect(() => parseQuantity(text)).toThrow(`${JSON.stringify(text)} is not a quantity: `);
    expect(() => parseQuantity(text)).toThrow('for example "500m", "2" or "1.5Gi"');
  });

  it.each([[null], [undefined], [{}], [true], [NaN], [Infinity]])('rejects %s, which is not a string', (input) => {
    expect(() => parseQuantity(input)).toThrow(QuantityError);
  });

  it('parses exponents of any size quickly', () => {
    expect(formatQuantity(parseQuantity('1e-999999999'))).toBe('1e-9');
    expect(formatQuantity(parseQuantity('0e999999999'))).toBe('0');
    expect(() => parseQuantity('1e999999999')).toThrow('it is too large');
  });

  it('agrees with rational arithmetic', () => {
    fc.assert(
      fc.property(quantityText, (text) => {
        expect(value(parseQuantity(text))).toBe(billionths(text));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a quantity of millions of digits', () => {
  const digits = '1'.repeat(2_900_000);

  it.each([
    ['whole', digits],
    ['fraction', `0.${digits}`],
    ['binary', `${digits}Ki`],
    ['exponent', `1e${digits}`],
    ['leading zeros', `${'0'.repeat(2_900_000)}1`],
    ['suffix', `1${'x'.repeat(2_900_000)}`],
  ])('is rejected before it is computed, with a short message: %s', (_, text) => {
    const bigInt = vi.spyOn(globalThis, 'BigInt');
    const error = (() => {
      try {
        return parseQuantity(text);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(QuantityError);
    expect((error as QuantityError).message.length).toBeLessThan(600);
    expect(bigInt).not.toHaveBeenCalled();
    bigInt.mockRestore();
  });

  it('may have 300 digits', () => {
    expect(formatQuantity(parseQuantity(`0.${'1'.repeat(299)}`))).toBe('111111112n');
  });
});

describe('formatQuantity', () => {
  it.each([
    ['0.5', '500m'],
    ['1024Mi', '1Gi'],
    ['0.0001', '100u'],
    ['1.5Gi', '1536Mi'],
    ['1000', '1k'],
    ['1000m', '1'],
    ['2000000', '2M'],
    ['1100', '1100'],
    ['100000000000000000000E', '100000000000000000000E'],
    ['1023Ki', '1023Ki'],
    ['1024Ki', '1Mi'],
    ['0.5Ki', '512'],
    ['-0.5Ki', '-512'],
    ['0.1Ki', '102400m'],
    ['2Ti', '2Ti'],
    ['1e3', '1e3'],
    ['10000e3', '10e6'],
    ['1e2', '100'],
    ['1e-1', '100e-3'],
    ['0Gi', '0'],
    ['-0', '0'],
  ])('formats %s as %s', (text, canonical) => {
    expect(formatQuantity(parseQuantity(text))).toBe(canonical);
  });

  it('formats to a text that parses to the same value and is canonical', () => {
    fc.assert(
      fc.property(quantityText, (text) => {
        const quantity = parseQuantity(text);
        const canonical = formatQuantity(quantity);
        expect(compareQuantities(parseQuantity(canonical), quantity)).toBe(0);
        expect(formatQuantity(parseQuantity(canonical))).toBe(canonical);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('arithmetic', () => {
  it('orders by value, independently of the suffix', () => {
    fc.assert(
      fc.property(quantityText, quantityText, (a, b) => {
        const expected = billionths(a) - billionths(b);
        expect(compareQuantities(parseQuantity(a), parseQuantity(b))).toBe(expected < 0n ? -1 : expected > 0n ? 1 : 0);
      }),
      { numRuns: 1000 },
    );
  });

  it('adds exactly', () => {
    fc.assert(
      fc.property(quantityText, quantityText, (a, b) => {
        const left = parseQuantity(a);
        const right = parseQuantity(b);
        expect(value(addQuantities(left, right))).toBe(billionths(a) + billionths(b));
      }),
      { numRuns: 1000 },
    );
  });

  it('formats a sum in the notation of the left operand, or of the right operand if the left is zero', () => {
    expect(formatQuantity(addQuantities(parseQuantity('1Gi'), parseQuantity('1073741824')))).toBe('2Gi');
    expect(formatQuantity(addQuantities(parseQuantity('0'), parseQuantity('1Gi')))).toBe('1Gi');
    expect(formatQuantity(addQuantities(parseQuantity('2'), parseQuantity('-500m')))).toBe('1500m');
  });
});
