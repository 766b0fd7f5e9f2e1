import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HttpProtocolError, ResponseParser } from './response-parser.ts';

class RecordedResponse {
  status = 0;
  headers: Readonly<Record<string, string>> = {};
  body = '';

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.status = status;
    this.headers = headers;
  }

  onBody(chunk: Buffer): void {
    this.body += chunk.toString('latin1');
  }
}

function parse(text: string): { answer: RecordedResponse; parser: ResponseParser; surplus: number } {
  const parser = new ResponseParser();
  const answer = new RecordedResponse();
  parser.expect(answer);
  return { answer, parser, surplus: parser.push(Buffer.from(text, 'latin1')) };
}

describe('a response', () => {
  test('has a status, headers in lower case with repeated ones joined, and a body of its content-length', () => {
    const { answer, parser, surplus } = parse(
      'HTTP/1.1 201 Created\r\nAudit-Id: x\r\nWarning: a\r\nwarning:  b \r\nContent-Length: 4\r\n\r\nbody',
    );
    expect(answer).toMatchObject({ status: 201, body: 'body' });
    expect(answer.headers).toEqual({ 'audit-id': 'x', warning: 'a, b', 'content-length': '4' });
    expect([parser.hasEnded, parser.mayBeKept, surplus]).toEqual([true, true, 0]);
  });

  test.each([
    ['content-length: 0', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['304, whose content-length does not announce a body', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n'],
    ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n'],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n'],
  ])('may have no body (%s)', (_, text) => {
    const { answer, parser } = parse(text);
    expect([parser.hasEnded, parser.mayBeKept, answer.body]).toEqual([true, true, '']);
  });

  test('in chunks may have extensions and a trailer', () => {
    const { answer, parser, surplus } = parse(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA;x=y\r\n0123456789\r\n1 \r\n!\r\n0\r\nDigest: z\r\n\r\n',
    );
    expect(answer.body).toBe('0123456789!');
    expect([parser.hasEnded, surplus]).toEqual([true, 0]);
  });

  test('without a length ends with the connection, which cannot be reused', () => {
    const { answer, parser } = parse('HTTP/1.1 200 OK\r\n\r\nall ');
    parser.push(Buffer.from('of it'));
    expect(parser.hasEnded).toBe(false);
    parser.pushEnd();
    expect(answer.body).toBe('all of it');
    expect([parser.hasEnded, parser.mayBeKept]).toEqual([true, false]);
  });

  test.each([
    'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n',
  ])('may announce that the connection closes (%j)', (text) => {
    expect(parse(text).parser.mayBeKept).toBe(false);
  });

  test('may follow interim responses', () => {
    const { answer } = parse(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx',
    );
    expect(answer).toMatchObject({ status: 200, headers: { 'content-length': '1' }, body: 'x' });
  });

  test('leaves surplus bytes unread, and counts them', () => {
    const { answer, parser, surplus } = parse('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n\r\n');
    expect([answer.body, parser.hasEnded, surplus]).toEqual(['x', true, 19]);
  });
});

test('parses consecutive responses the same way, however they are split into chunks', () => {
  const body = fc.string({ maxLength: 40 }).map((text) => Buffer.from(text, 'utf8').toString('latin1'));
  const sized = body.map((text) => ({ text, wire: `Content-Length: ${text.length}\r\n\r\n${text}` }));
  const chunked = fc.array(body, { maxLength: 5 }).map((parts) => ({
    text: parts.join(''),
    wire: `Transfer-Encoding: chunked\r\n\r\n${parts
      .filter((part) => part !== '')
      .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
      .join('')}0\r\n\r\n`,
  }));
  const answers = fc.array(fc.oneof(sized, chunked), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(answers, fc.infiniteStream(fc.integer({ min: 1, max: 30 })), (sent, cuts) => {
      const parser = new ResponseParser();
      for (const { text, wire } of sent) {
        const answer = new RecordedResponse();
        parser.expect(answer);
        const bytes = Buffer.from(`HTTP/1.1 200 OK\r\nDate: today\r\n${wire}`, 'latin1');
        for (let at = 0; at < bytes.length;) {
          expect(parser.hasEnded).toBe(false);
          const end = Math.min(bytes.length, at + cuts.next().value!);
          // Copied, then overwritten: the parser must not keep a reference to it.
          const chunk = Buffer.from(bytes.subarray(at, end));
          expect(parser.push(chunk)).toBe(0);
          chunk.fill('?');
          at = end;
        }
        expect([parser.hasEnded, parser.mayBeKept]).toEqual([true, true]);
        expect(answer).toMatchObject({ status: 200, body: text });
      }
    }),
  );
});

describe('rejects invalid HTTP/1.1:', () => {
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
    ['an invalid status', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n'],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\nnonsense\r\n\r\n'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 3\r\n\r\n'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nA: b\r\n c: d\r\n\r\n'],
    ['a length that is not a number', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['a line feed alone in a value', 'HTTP/1.1 200 OK\r\nA: b\nContent-Length: 5\r\nContent-Length: 0\r\n\r\n'],
    ['a line feed alone after the status', 'HTTP/1.1 200 OK\nA: b\r\nContent-Length: 0\r\n\r\n'],
    ['a carriage return alone in a value', 'HTTP/1.1 200 OK\r\nA: b\rc\r\nContent-Length: 0\r\n\r\n'],
    ['NUL in a value', 'HTTP/1.1 200 OK\r\nA: b\0\r\nContent-Length: 0\r\n\r\n'],
    ['an escape in a value', 'HTTP/1.1 200 OK\r\nA: \x1b[2J\r\nContent-Length: 0\r\n\r\n'],
    ["NUL beside a chunk's size", 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;\0\r\na\r\n0\r\n\r\n'],
    ['a line feed alone in a trailer', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\r\n\r\n'],
    ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['an unknown coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'],
    ['an invalid chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'],
    ['a chunk longer than its size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\nA: ${'x'.repeat(70_000)}`],
  ])('%s', (_, text) => {
    expect(() => parse(text)).toThrow(HttpProtocolError);
  });

  test.each([
    ['before the answer', ''],
    ['in the head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['in the body', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'],
    ['before the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n'],
    ['in the trailer', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nDigest: z\r\n'],
  ])('a connection that closes %s', (_, text) => {
    const { parser } = parse(text);
    expect(() => parser.pushEnd()).toThrow(HttpProtocolError);
  });
});
