import { Buffer } from 'node:buffer';

/**
 * The one place that makes text safe to show: text that a user of the cluster wrote, or an API server, an extender or a plugin. Such text
 * can be megabytes long, can hold secrets, and can contain characters that move the cursor of a terminal or forge a line.
 */

/** Maximum length of a message for people: the message of a condition, the note of an Event. In UTF-16 code units. */
export const maxMessageLength = 1_024;
/** Maximum length of a name in Kubernetes. A longer one is no name of an object. */
export const maxNameLength = 253;
/** Texts are read up to this many times the length that they are cut to, so that a secret at the cut is recognized as a whole. */
const readFactor = 4;

/** Patterns of secrets, and their replacements. Each takes linear time, because users choose the text. */
const secrets: readonly (readonly [RegExp, string])[] = [
  // The login in a URL, in any notation.
  [/\b([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/"'<>]*@/gi, '$1[redacted]@'],
  [/\b(Bearer\s+)[\w.~+/-]{8,}=*/gi, '$1[redacted]'],
  // Not "basic authentication".
  [/\b(Basic\s+)(?=\S*[A-Z\d=])[\w+/-]{6,}=*/g, '$1[redacted]'],
  // A token within a word. The lookahead is there for linear time: only a word before a dot is searched for the start of a token.
  [/(?<![\w-])(?=[\w-]+\.[\w-]{8})([\w-]*?\b)eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, '$1[redacted]'],
  [/([?&](?:access_token|id_token|token|password|secret|api_key)=)(?!(?:\[redacted\]?)?…$)[^&\s"']+/gi, '$1[redacted]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs, '[redacted]'],
];

/** Part of every secret that `secrets` matches. */
const secretHint = /:\/\/|\b(?:bearer|basic)\s|\beyJ|[?&][a-z_]+=|-----BEGIN/i;

/**
 * Characters that a terminal or log viewer interprets or hides: controls, line ends, lone surrogates, and format characters, which change
 * the direction of text or are invisible. Scripts and emoji need the two joiners.
 */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/gu;
const printableAscii = /^[ -~]*$/;
const plainName = /^[\w.-]{0,253}$/;

/**
 * Makes text safe to show in a log or terminal: it removes logins in URLs, tokens and private keys, and escapes control characters as
 * `\u001b`, also in JSON. It does not cut the text.
 */
export function safeText(text: string): string {
  const shown = withoutSecrets(text);
  const printable = escapeControls(shown);
  // An escaped line end no longer ends a word, so this can find more. Safe text stays the same.
  return printable === shown ? shown : withoutSecrets(printable);
}

/** Like `safeText`, but keeps line breaks. */
export function safeLines(text: string): string {
  return withoutSecrets(text).split('\n').map(escapeControls).join('\n');
}

/**
 * Like `safeText`, and cuts text that is longer than `maxLength` UTF-16 code units at a code point. It then ends in an ellipsis. The result
 * keeps no long text in memory. A safe message stays the same.
 */
export function safeMessage(text: string, maxLength: number = maxMessageLength): string {
  return shorten(text, maxLength, safeText);
}

/** Like `safeMessage`, but escapes nothing. For text that passes through `safeText` later. */
export function redactedText(text: string, maxLength: number): string {
  return shorten(text, maxLength, withoutSecrets);
}

/** `safeMessage` for names that an API object refers to: valid names stay as they are, and nothing else becomes a valid name. */
export function safeName(name: string): string {
  return plainName.test(name) ? name : safeMessage(name, maxNameLength);
}

/** Cuts text that is longer than `maxLength` at a code point, with an ellipsis at the end, and escapes nothing. For text that is only compared. */
export function cutText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : cut(text, maxLength);
}

/** Cuts text that takes more than `maxBytes` bytes of UTF-8 at a code point, with an ellipsis at the end. */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - Buffer.byteLength(ellipsis);
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end) + ellipsis;
}

const ellipsis = '…';

function shorten(text: string, maxLength: number, show: (text: string) => string): string {
  if (text.length > maxLength * readFactor) {
    return cut(withoutCutSecret(show(text.slice(0, maxLength * readFactor)), maxLength), maxLength);
  }
  const shown = show(text);
  return shown.length <= maxLength ? shown : cut(shown, maxLength);
}

/** Removes the last two words, which may be the start of a secret, such as `Bearer abc`. Longer ones than a cut can show stay. */
function withoutCutSecret(text: string, maxLength: number): string {
  if (text.endsWith('[redacted]')) return text;
  const end = Math.max(0, text.lastIndexOf(' ', text.lastIndexOf(' ') - 1));
  return text.length - end > maxLength * (readFactor - 1) ? text : text.slice(0, end);
}

function cut(text: string, maxLength: number): string {
  const end = Math.min(text.length, maxLength - ellipsis.length);
  const isInPair = (text.codePointAt(end - 1) ?? 0) > 0xffff;
  // A part of a string keeps the whole one in memory, so this makes a copy.
  return Buffer.from(text.slice(0, isInPair ? end - 1 : end) + ellipsis, 'utf16le').toString('utf16le');
}

function withoutSecrets(text: string): string {
  if (!secretHint.test(text)) return text;
  return secrets.reduce((shown, [secret, rest]) => shown.replace(secret, rest), text);
}

function escapeControls(text: string): string {
  return printableAscii.test(text) ? text : text.replace(controls, escaped);
}

/** Escapes each UTF-16 code unit, so that an escape in JSON stands for the same text. */
function escaped(character: string): string {
  let units = '';
  for (let i = 0; i < character.length; i++) units += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return units;
}
