// What is wrong, first: the rules with their status, and what they found; a click leads to the tensor and the step.
import { count, el, number, plural } from './dom.js';
import { on, set, state } from './state.js';

const words = { IssuesFound: 'found something', NoIssuesFound: 'nothing found', Error: 'could not be evaluated', Incomplete: 'incomplete', InProgress: 'nothing so far', Stopped: 'ended early' };
const kinds = { IssuesFound: 'bad', Error: 'warn', Incomplete: 'warn', NoIssuesFound: 'good', InProgress: 'good', Stopped: 'warn' };
const order = { IssuesFound: 0, Error: 1, Incomplete: 2, Stopped: 3, InProgress: 4, NoIssuesFound: 5 };
const most = 30;

export function openTensor(name, step) {
    set({ tensor: name, step });
    const target = document.getElementById('tensor-part');
    if (target) {
        target.scrollIntoView({ behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth', block: 'start' });
        const heading = target.querySelector('h2');
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
    }
}

export function findingsPart(facts) {
    const part = el('section', { id: 'findings-part', 'aria-labelledby': 'findings-title' });
    let all = false;
    const show = () => {
        const run = facts.runs[state.run];
        const rules = run.rules.map((rule, place) => ({ ...rule, place })).sort((a, b) => order[a.status] - order[b.status]);
        const met = rules.filter((rule) => rule.findings > 0).length;
        const of = facts.runs.length > 1 ? ` in ${run.name}` : '';
        const title = el('h2', { id: 'findings-title', text: (!rules.length ? 'No rule was evaluated' : met ? `${plural(met, 'rule')} found something` : rules.some((rule) => kinds[rule.status] === 'warn') ? 'Nothing found, but not all could be looked at' : 'Nothing wrong was found') + of });
        const origin = run.firstBadValue && el('p', { class: 'notice bad', id: 'first-bad-value', text: run.firstBadValue.charAt(0).toUpperCase() + run.firstBadValue.slice(1) });
        const chips = rules.map((rule) =>
            el(
                'button',
                {
                    type: 'button',
                    class: 'rule ' + kinds[rule.status],
                    'aria-pressed': String(state.rule === rule.name),
                    title: [rule.details, ...rule.parameters].filter(Boolean).join('\n'),
                    onclick: () => set({ rule: state.rule === rule.name ? null : rule.name }),
                },
                el('b', { text: rule.name }),
                el('span', { text: rule.findings ? plural(rule.findings, 'finding') : words[rule.status] || rule.status }),
            ),
        );
        const shown = run.findings.filter((each) => state.rule === null || run.rules[each.rule].name === state.rule);
        const rows = shown.slice(0, all ? shown.length : most).map((each) => {
            const link = el('button', { type: 'button', class: 'link', text: each.tensorName || 'the run', 'aria-label': `${each.tensorName || 'the run'}, step ${each.first}: show it` });
            const go = () => (each.tensor !== undefined ? openTensor(each.tensorName, each.first) : set({ step: each.first }));
            const row = el(
                'tr',
                { onclick: go },
                el('td', { text: run.rules[each.rule].name, 'data-label': 'Rule' }),
                el('td', { class: 'name', 'data-label': 'Tensor' }, link, each.worker && run.workers.length > 1 ? el('small', { text: ' ' + each.worker }) : null),
                el('td', { class: 'num', text: each.first === each.last ? count(each.first) : `${count(each.first)} to ${count(each.last)}`, 'data-label': 'Steps' }),
                el('td', { class: 'num', text: count(each.count), 'data-label': 'Times' }),
                el('td', { class: 'num', text: number(each.value), 'data-label': 'First value' }),
                el('td', { class: 'message', text: each.message, 'data-label': 'Message' }),
            );
            return row;
        });
        const table =
            rows.length > 0 &&
            el('div', { class: 'table-box' }, el('table', { class: 'findings' }, el('thead', {}, el('tr', {}, ['Rule', 'Tensor', 'Steps', 'Times', 'First value', 'Message'].map((name, i) => el('th', { scope: 'col', class: i > 1 && i < 5 ? 'num' : '', text: name })))), el('tbody', {}, rows)));
        const more = shown.length > rows.length && el('button', { type: 'button', class: 'more', text: `Show all ${count(shown.length)}`, onclick: () => ((all = true), show()) });
        const troubled = rules.filter((rule) => kinds[rule.status] === 'warn' && rule.details);
        const notes = troubled.length > 0 && el('ul', { class: 'notes' }, troubled.map((rule) => el('li', { text: `${rule.name}: ${rule.details}` })));
        const others = run.notEvaluated.length > 0 && el('details', {}, el('summary', { text: `${plural(run.notEvaluated.length, 'rule')} had nothing to look at` }), el('ul', { class: 'notes' }, run.notEvaluated.map((rule) => el('li', { text: `${rule.name}: ${rule.why}` }))));
        const left = run.groups > run.findings.length && state.rule === null && el('p', { class: 'muted', text: `${count(run.groups - run.findings.length)} more tensors with findings are marked in the pictures only.` });
        const bare = run.bandsLeftOut > 0 && el('p', { class: 'muted', text: `Of ${plural(run.bandsLeftOut, 'number')} of tensors healthy runs are not shown: the page has no room for them.` });
        part.replaceChildren(...[title, origin, chips.length > 0 && el('div', { class: 'rules', role: 'group', 'aria-label': 'Rules' }, chips), notes, table, more, left, bare, others].filter(Boolean));
    };
    show();
    on(['run', 'rule'], show);
    return part;
}
