import fc from 'fast-check';

const sign = fc.constantFrom('', '-', '+');
const number = fc.oneof(
  fc.nat().map(String),
  fc.tuple(fc.nat(), fc.nat({ max: 999_999 })).map(([whole, part]) => `${whole}.${part}`),
  fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String),
  fc.nat({ max: 99_999_999 }).map((part) => `.${String(part)}`),
);
const suffix = fc.constantFrom(
  ...['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'E-4', 'e+2'],
);
/** Texts like those of quantities; some are none. */
export const quantityText = fc.tuple(sign, number, suffix).map((parts) => parts.join(''));
