import { describe, expect, it } from 'vitest';
import { templateVariables } from '../../services/code-run/bindings/uri-template.ts';

describe('templateVariables', () => {
  it.each([
    ['note://{id}', ['id']],
    ['file:///{+path}', ['path']],
    ['repo://{owner}/{repo}/contents{/path*}', ['owner', 'repo', 'path*']],
    ['search://x{?q,lang}{&page}', ['q?', 'lang?', 'page?']],
    ['x://{var:30}{.ext}{;param}{#fragment}', ['var', 'ext', 'param', 'fragment']],
    ['x://{a}/{a}{?a}', ['a']],
    ['x://{a.b}/{c%20d}', ['a.b', 'c%20d']],
    ['x://{}{,}{open', []],
    ['x://plain', []],
  ])('reads %s', (template, variables) => {
    expect(
      templateVariables(template).map(
        ({ name, optional, several }) => `${name}${several ? '*' : ''}${optional ? '?' : ''}`,
      ),
    ).toEqual(variables);
  });
});
