import { Buffer } from 'node:buffer';
import { randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Decides which browser may see the cluster: the one that opens the link that the command has printed. The token in the link counts once, so that a link
 * in a history, a log or a screenshot is worth nothing.
 */
export class PageSession {
  readonly token = secret();
  readonly #cookie = secret();
  #isUsed = false;

  /** Returns the value of the cookie for the first caller with the token, else undefined. */
  exchange(token: string): string | undefined {
    if (this.#isUsed || !isEqual(token, this.token)) return undefined;
    this.#isUsed = true;
    return this.#cookie;
  }

  accepts(cookie: string | undefined): boolean {
    return cookie !== undefined && isEqual(cookie, this.#cookie);
  }
}

function secret(): string {
  return randomBytes(24).toString('base64url');
}

function isEqual(text: string, expected: string): boolean {
  const [given, wanted] = [Buffer.from(text), Buffer.from(expected)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
