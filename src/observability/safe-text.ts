/** Patterns of secrets, and their replacements. */
const secrets: readonly (readonly [RegExp, string])[] = [
  // The login in a URL, in any notation.
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/"'<>]*@/gi, '$1[redacted]@'],
  [/\b(Bearer\s+)[\w.~+/-]{8,}=*/gi, '$1[redacted]'],
  // Not "basic authentication".
  [/\b(Basic\s+)(?=\S*[A-Z\d=])[\w+/-]{6,}=*/g, '$1[redacted]'],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, '[redacted]'],
  [/([?&](?:access_token|id_token|token|password|secret|api_key)=)[^&\s"']+/gi, '$1[redacted]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs, '[redacted]'],
];

/** Characters that a terminal or log viewer interprets: C0, DEL, C1, line ends, and changes of the text direction. */
// eslint-disable-next-line no-control-regex -- to find them is the purpose
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Makes text safe to show in a log or terminal: it removes logins in URLs, tokens and private keys, and escapes control
 * characters as `\u001b`. Every log line and every error of a command passes through it.
 */
export function safeText(text: string): string {
  return withoutSecrets(text).replace(controls, escaped);
}

/** Like `safeText`, but keeps line breaks. */
export function safeLines(text: string): string {
  return withoutSecrets(text).replace(controls, (character) => (character === '\n' ? '\n' : escaped(character)));
}

function withoutSecrets(text: string): string {
  return secrets.reduce((shown, [secret, rest]) => shown.replace(secret, rest), text);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
