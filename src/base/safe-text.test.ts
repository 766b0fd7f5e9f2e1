import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cutText,
  cutToBytes,
  maxMessageLength,
  redactedText,
  safeLines,
  safeMessage,
  safeName,
  safeText,
} from './safe-text.ts';

describe('safeText', () => {
  it.each([
    ['https://admin:canary@10.0.0.1:6443/x', 'https://[redacted]@10.0.0.1:6443/x'],
    ['via http://admin:can@ary@proxy:1 and back', 'via http://[redacted]@proxy:1 and back'],
    ['https://canary@10.0.0.1', 'https://[redacted]@10.0.0.1'],
    ['socks5://u:canary?#@p', 'socks5://[redacted]@p'],
    ['authorization: Bearer canary-token-1.2_3', 'authorization: Bearer [redacted]'],
    ['{"authorization":"bearer canarycanary=="}', '{"authorization":"bearer [redacted]"}'],
    ['Basic Y2FuYXJ5OmE=', 'Basic [redacted]'],
    ['it printed eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.sig-canary', 'it printed [redacted]'],
    [`it printed eyJ${'x'.repeat(2_000)}.eyJzdWIiOiJjYW5hcnkifQ`, 'it printed [redacted]'],
    ['it printed v1-eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ', 'it printed v1-[redacted]'],
    ['GET /x?token=canary&b=c', 'GET /x?token=[redacted]&b=c'],
    ['-----BEGIN RSA PRIVATE KEY-----\\ncanary\\n-----END RSA PRIVATE KEY-----, and more', '[redacted], and more'],
  ])('removes the secret from %s', (text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  it.each([
    'server=https://10.0.0.1:6443 user@example.com',
    'basic authentication is not allowed',
    'Bearer tokens expire',
    'GET /api/v1/pods?limit=500&continue=eyJ2IjoibWV0YSJ9',
    'zone-a, München, 東京, 😀',
  ])('leaves %s unchanged', (text) => {
    expect(safeText(text)).toBe(text);
  });

  it('escapes everything that a terminal interprets', () => {
    expect(safeText('a\u001b[2Jb\u009b31mc\u0000d\r\ne\u2028f\u202eg\u007f')).toBe(
      'a\\u001b[2Jb\\u009b31mc\\u0000d\\u000d\\u000ae\\u2028f\\u202eg\\u007f',
    );
    expect(safeLines('a\n\u001bb')).toBe('a\n\\u001bb');
  });

  it('escapes characters that change the direction of text or are invisible, and lone surrogates', () => {
    expect(safeText('a\u061cb\u200bc\u00add\ufeffe\u{e0041}f\ud800g\udc00')).toBe(
      'a\\u061cb\\u200bc\\u00add\\ufeffe\\udb40\\udc41f\\ud800g\\udc00',
    );
    expect(safeText('👩\u200d💻')).toBe('👩\u200d💻');
  });

  it('keeps JSON valid, with the same content', () => {
    const value = { text: 'a\u202eb\u{e0041}c\u0085' };
    const shown = safeText(JSON.stringify(value));
    expect(shown).toMatch(/^[ -~]*$/);
    expect(JSON.parse(shown)).toEqual(value);
  });
});

describe('safeMessage', () => {
  it('cuts long text at a code point and ends it in an ellipsis', () => {
    expect(safeMessage('x'.repeat(1_024))).toBe('x'.repeat(1_024));
    expect(safeMessage('x'.repeat(1_025))).toBe(`${'x'.repeat(1_023)}…`);
    expect(safeMessage(`${'x'.repeat(1_022)}😀😀`)).toBe(`${'x'.repeat(1_022)}…`);
  });

  it('removes a secret of which it shows only a part', () => {
    const url = `https://admin:canary-${'y'.repeat(600)}@host`;
    expect(safeMessage(`${'x'.repeat(1_000)} ${url}`)).toBe(`${'x'.repeat(1_000)} https://[redacted]@host`);
  });

  it('shows no part of a secret of which it has not read the end', () => {
    const key = `-----BEGIN PRIVATE KEY-----${'x'.repeat(4_000)}-----END PRIVATE KEY-----`;
    for (let padding = 0; padding < 60; padding++) {
      const url = safeMessage(`${'x'.repeat(padding)} ${key} for https://admin:canary@host`);
      expect(url).not.toMatch(/admin|cana/);
      expect(safeMessage(`${'x'.repeat(padding)} ${key} for Bearer canary-canary`)).not.toContain('cana');
    }
  });

  it('shows that text is missing even if the rest is short', () => {
    expect(safeMessage(`-----BEGIN PRIVATE KEY-----${'canary'.repeat(2_000)}`)).toBe('[redacted]…');
  });

  it('returns well-formed, printable text of limited length that stays the same', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3_000 }),
      fc
        .array(
          fc.constantFrom(
            '\u001b',
            '\ud83d',
            '\ude00',
            '😀',
            'eyJ',
            'a.b',
            '://',
            '@',
            '?token=',
            'x'.repeat(500),
            '\n',
          ),
          {
            maxLength: 40,
          },
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        const shown = safeMessage(given);
        expect(shown.length).toBeLessThanOrEqual(maxMessageLength);
        expect(shown.isWellFormed()).toBe(true);
        expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        expect(safeMessage(shown)).toBe(shown);
      }),
    );
  });
});

describe('a message that is cut beside a secret', () => {
  it('stays the same', () => {
    for (let length = 1; length < 40; length++) {
      const shown = safeMessage('GET /x?token=canary&b=cccccccccccc', length);
      expect(safeMessage(shown, length)).toBe(shown);
    }
  });
});

describe('redactedText', () => {
  it('removes secrets, also of those that it cuts, and escapes nothing', () => {
    expect(redactedText('a\nhttps://admin:canary@host b', 40)).toBe('a\nhttps://[redacted]@host b');
    for (let length = 20; length < 60; length++) {
      const text = redactedText(`via\nhttps://admin:canary@host and ${'more '.repeat(100)}`, length);
      expect(text).not.toMatch(/admin|cana/);
      expect(text.length).toBeLessThanOrEqual(length);
    }
  });
});

describe('safeName', () => {
  it.each(['', 'red', 'a-b.c', 'A_b', 'x'.repeat(253)])('keeps the valid name %j', (name) => {
    expect(safeName(name)).toBe(name);
  });

  it('turns nothing else into a valid name', () => {
    const valid = /^[\w.-]{0,253}$/;
    for (const name of ['x'.repeat(254), 'a\u001b', 'a b', '\ud800', 'x'.repeat(200_000)]) {
      expect(safeName(name)).not.toMatch(valid);
      expect(safeName(name).length).toBeLessThanOrEqual(253);
    }
  });
});

describe('cutText and cutToBytes', () => {
  it('cut at whole characters and end in an ellipsis', () => {
    expect(cutText('short', 5)).toBe('short');
    expect(cutText('longer', 5)).toBe('long…');
    expect(cutToBytes('short', 1024)).toBe('short');
    const cut = cutToBytes('ä'.repeat(600), 1024);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1024);
    expect(cut).toBe(`${'ä'.repeat(510)}…`);
  });
});
