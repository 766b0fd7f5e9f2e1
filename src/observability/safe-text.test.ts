import { describe, expect, it } from 'vitest';
import { safeLines, safeText } from './safe-text.ts';

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
});
