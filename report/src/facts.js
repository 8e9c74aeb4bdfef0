// What there is: the facts of a run, and which run is looked at.
import { bytes, count, el, plural, seriesColor } from './dom.js';
import { on, set, state } from './state.js';

const stateWords = { ended: 'ended', running: 'running', stalled: 'stalled', failed: 'cannot be opened' };

const findingsOf = (run) => run.rules.reduce((sum, rule) => sum + rule.findings, 0);

// The run with most findings, which is shown where the address names none; and whether it alone has so many.
export function worstRun(facts) {
    const all = facts.runs.map(findingsOf);
    const most = Math.max(0, ...all);
    return { place: all.indexOf(most), alone: most > 0 && all.filter((each) => each === most).length === 1 };
}

export function runPicker(facts) {
    const buttons = facts.runs.map((run, i) => {
        const dot = el('i', { class: 'dot' });
        dot.style.background = seriesColor(i);
        return el('button', { type: 'button', class: 'tab', onclick: () => set({ run: i, worker: -1 }) }, dot, run.name);
    });
    const show = () => buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(i === state.run)));
    show();
    on(['run'], show);
    return el('nav', { class: 'tabs', 'aria-label': 'Runs' }, buttons);
}

function tiles(run) {
    const steps = run.axes.reduce((sum, axis) => sum + axis.steps, 0);
    const tile = (name, value, more, kind) => el('div', { class: 'tile' + (kind ? ' ' + kind : '') }, el('dt', { text: name }), el('dd', {}, value, more && el('small', { text: more })));
    const modes = run.axes.map((axis) => `${axis.mode} ${count(axis.steps)}`).join(', ');
    return el(
        'dl',
        { class: 'tiles' },
        tile('State', stateWords[run.state] || run.state, run.state === 'running' ? 'these are its steps so far' : '', run.state === 'ended' ? 'good' : run.state === 'running' ? '' : 'bad'),
        tile('Steps', count(steps), modes === `GLOBAL ${count(steps)}` ? '' : modes),
        tile('Last step', run.lastComplete === undefined ? 'none' : count(run.lastComplete).replaceAll(',', ',\u200b')),
        tile('Workers', count(run.workersOfJob), run.mergedWorkers ? 'shown together' : ''),
        tile('Tensors', count(run.tensorCount), run.leftOut ? `${count(run.leftOut)} of them are not shown` : ''),
        tile('Values read', bytes(run.bytes), `of ${plural(run.values, 'tensor')} over all steps`),
        tile('Damaged places', run.damaged ? count(run.damaged) : 'none', '', run.damaged ? 'bad' : 'good'),
    );
}

export function factsPart(facts) {
    const part = el('section', { id: 'facts-part', 'aria-label': 'The run' });
    const worst = worstRun(facts);
    const show = () => {
        const run = facts.runs[state.run];
        const which = run.name + (worst.alone && state.run === worst.place ? ', which has most findings' : '');
        document.getElementById('subtitle').textContent = facts.runs.length > 1 ? `${plural(facts.runs.length, 'run')}; shown: ${which}; ${run.path}` : run.path;
        const damage =
            run.damage.length > 0 &&
            el('details', { class: 'damage' }, el('summary', { text: `What cannot be read (${count(run.damaged)})` }), el('ul', {}, run.damage.map((each) => el('li', { text: each })), run.damaged > run.damage.length ? el('li', { text: `and ${count(run.damaged - run.damage.length)} more` }) : null));
        part.replaceChildren(...[run.failed ? el('p', { class: 'notice bad', text: run.failed }) : tiles(run), damage].filter(Boolean));
    };
    show();
    on(['run'], show);
    return part;
}
