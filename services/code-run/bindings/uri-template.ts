/** The variables of a URI template (RFC 6570). Pure. */

export interface TemplateVariable {
  readonly name: string;
  /** In a query it may be left out; elsewhere the URI would have a hole. */
  readonly optional: boolean;
  /** `{list*}` takes several values. */
  readonly several: boolean;
}

/** Variables in the order of the template, each once; required if it is so anywhere. */
export function templateVariables(template: string): TemplateVariable[] {
  const variables = new Map<string, TemplateVariable>();
  for (const [, expression = ''] of template.matchAll(/\{([^{}]*)\}/g)) {
    const operator = /^[+#./;?&]/.exec(expression)?.[0] ?? '';
    for (const spec of expression.slice(operator.length).split(',')) {
      const name = spec.trim().replace(/(\*|:\d{1,4})$/, '');
      if (name === '') continue;
      const known = variables.get(name);
      variables.set(name, {
        name,
        optional: (known?.optional ?? true) && (operator === '?' || operator === '&'),
        several: (known?.several ?? false) || spec.trim().endsWith('*'),
      });
    }
  }
  return [...variables.values()];
}
