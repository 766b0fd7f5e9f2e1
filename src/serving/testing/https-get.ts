import { request } from 'node:https';
import type { RequestOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';

export interface HttpsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The serving certificate's serial number. */
  readonly serialNumber: string;
}

/** Sends a request on its own connection without verifying the server's certificate. Rejects if there is no response. */
export function httpsGet(
  url: string,
  { token, ...options }: RequestOptions & { readonly token?: string } = {},
): Promise<HttpsAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { ...options.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const sent = request(url, { rejectUnauthorized: false, agent: false, ...options, headers }, (response) => {
      const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate();
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, serialNumber }),
      );
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}
