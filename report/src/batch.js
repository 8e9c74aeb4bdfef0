// Many runs: a table of what rules said of each.
import { color, count, el, number, plural, sizeCanvas } from './dom.js';
import { pictures } from './theme.js';

const kinds = { IssuesFound: 'bad', Error: 'warn', Incomplete: 'warn', NoIssuesFound: 'good', InProgress: 'good', Stopped: 'warn' };
const signs = { IssuesFound: '\u2715', Error: '!', Incomplete: '?', NoIssuesFound: '\u2713', InProgress: '\u2713', Stopped: '\u25a0' };

function spark(canvas, values) {
    const context = sizeCanvas(canvas, 96, 22);
    context.clearRect(0, 0, 96, 22);
    const good = values.filter(Number.isFinite);
    if (!good.length) return;
    const low = Math.min(...good);
    const high = Math.max(...good);
    const x = (i) => 2 + (92 * i) / Math.max(values.length - 1, 1);
    const y = (v) => 19 - (16 * (v - low)) / (high - low || 1);
    context.strokeStyle = color('accent');
    context.lineWidth = 1.5;
    context.beginPath();
    let on = false;
    values.forEach((v, i) => {
        if (Number.isFinite(v)) on ? context.lineTo(x(i), y(v)) : context.moveTo(x(i), y(v));
        on = Number.isFinite(v);
    });
    context.stroke();
    // A point without a neighbour is no line.
    context.fillStyle = color('accent');
    values.forEach((v, i) => Number.isFinite(v) && !Number.isFinite(values[i - 1]) && !Number.isFinite(values[i + 1]) && context.fillRect(x(i) - 1, y(v) - 1, 2.5, 2.5));
    context.fillStyle = color('bad');
    values.forEach((v, i) => !Number.isFinite(v) && context.fillRect(x(i) - 1, 18, 2, 4));
}

// What of a loss cannot be drawn, in words: '' where all can.
function lostOf(row) {
    const first = row.loss.findIndex((v) => !Number.isFinite(v));
    if (first < 0) return '';
    const stays = !row.loss.slice(first).some(Number.isFinite);
    return `NaN or infinite${row.lossLost !== undefined ? `${stays ? ' from' : ', first at'} step ${count(row.lossLost)}` : ''}`;
}

// A line, and what it cannot show; a text alone where there is no line.
function lossCell(row, sparks) {
    if (!row.loss.length) return el('td', { class: 'loss muted', title: row.error ? null : 'no loss', text: '\u2013' });
    const good = row.loss.filter(Number.isFinite);
    const lost = lostOf(row);
    const says = lost && el('small', { class: 'bad', text: lost });
    if (!good.length) return el('td', { class: 'loss', title: lost }, says);
    const canvas = el('canvas', { class: 'spark', role: 'img', 'aria-label': `loss from ${number(good[0])} to ${number(good[good.length - 1])}` + (lost && `, ${lost}`) });
    sparks.push([canvas, row.loss]);
    return el('td', { class: 'loss', title: lost || null }, canvas, says || null);
}

export function batchPart(facts) {
    const rows = facts.batch.map((row, place) => ({ ...row, place, loss: row.loss.map(Number), findings: row.verdicts.reduce((sum, each) => sum + each.findings, 0), met: row.verdicts.filter((each) => each.findings > 0).length, by: new Map(row.verdicts.map((each) => [each.rule, each])) }));
    // What all paths begin with is said once, above the table.
    const folder = (path) => path.slice(0, path.lastIndexOf('/') + 1);
    const above = rows.length < 2 ? '' : rows.reduce((common, row) => { while (!row.path.startsWith(common)) common = folder(common.slice(0, -1)); return common; }, folder(rows[0].path));
    const rules = [...new Set(rows.flatMap((row) => row.verdicts.map((each) => each.rule)))].filter((rule) => rows.some((row) => row.by.get(rule) && row.by.get(rule).status));
    const failed = rows.filter((row) => row.error).length;
    const bad = rows.filter((row) => row.findings).length;
    const filter = el('input', { type: 'search', 'aria-label': 'Only runs whose path has', placeholder: 'part of a path' });
    const which = el('select', { 'aria-label': 'Only runs' }, [['all', 'all runs'], ['bad', 'with findings'], ['failed', 'that could not be read'], ['good', 'without findings']].map(([value, text]) => el('option', { value, text })));
    let order = { key: 'findings', down: true };
    const body = el('tbody');
    const shown = el('p', { class: 'muted', role: 'status' });
    const value = (row, key) => (key === 'path' ? row.path : key === 'steps' ? row.steps : key === 'findings' ? row.findings + (row.error ? 0.5 : 0) : key === 'loss' ? lastLoss(row.loss) : (row.by.get(key) || {}).findings || 0);
    const lastLoss = (loss) => (!loss.length ? -Infinity : Number.isFinite(loss[loss.length - 1]) ? loss[loss.length - 1] : Infinity);
    const headers = new Map();
    const sortBy = (key) => {
        order = { key, down: order.key === key ? !order.down : key !== 'path' };
        show();
    };
    const head = (key, text, kind) => {
        const cell = el('th', { scope: 'col', class: kind }, el('button', { type: 'button', class: 'sort', onclick: () => sortBy(key) }, text));
        headers.set(key, cell);
        return cell;
    };
    const table = el('table', { class: rules.length > 9 ? 'batch turned' : 'batch' }, el('thead', {}, el('tr', {}, head('path', 'Run', ''), head('findings', 'Findings', 'num'), head('loss', 'Loss', ''), head('steps', 'Steps', 'num'), rules.map((rule) => head(rule, rule.replaceAll('_', ' '), 'rule-head')))), body);
    const sparks = [];
    const redraw = () => sparks.forEach(([canvas, values]) => spark(canvas, values));
    function show() {
        const text = filter.value.toLowerCase();
        const all = rows
            .filter((row) => row.path.toLowerCase().includes(text) && (which.value === 'all' || (which.value === 'bad' && row.findings) || (which.value === 'failed' && row.error) || (which.value === 'good' && !row.findings && !row.error)))
            .sort((a, b) => {
                const [x, y] = [value(a, order.key), value(b, order.key)];
                return (x < y ? -1 : x > y ? 1 : a.place - b.place) * (order.down && x !== y ? -1 : 1);
            });
        headers.forEach((cell, key) => cell.setAttribute('aria-sort', key !== order.key ? 'none' : order.down ? 'descending' : 'ascending'));
        sparks.length = 0;
        body.replaceChildren(
            ...all.map((row) => {
                return el(
                    'tr',
                    {},
                    el('th', { scope: 'row', class: 'name' }, row.link ? el('a', { href: row.link, title: row.path, text: row.path.slice(above.length) }) : el('span', { title: row.path, text: row.path.slice(above.length) }), row.error ? el('small', { class: 'bad', text: ' ' + row.error }) : null),
                    el('td', { class: 'num' + (row.findings ? ' bad' : ''), text: row.error ? '\u2013' : count(row.findings) }),
                    lossCell(row, sparks),
                    el('td', { class: 'num', text: count(row.steps) }),
                    rules.map((rule) => {
                        const each = row.by.get(rule);
                        if (!each || !each.status) return el('td', { class: 'mark none', title: each ? `${rule}: ${each.details}` : rule, text: '\u00b7' });
                        return el('td', { class: 'mark ' + kinds[each.status], title: `${rule}: ${each.status}${each.findings ? `, ${plural(each.findings, 'finding')}, the first at step ${each.first}` : ''}. ${each.details}` }, el('span', { 'aria-label': each.findings ? plural(each.findings, 'finding') : each.status, text: each.findings ? count(each.findings) : signs[each.status] }));
                    }),
                );
            }),
        );
        shown.textContent = all.length === rows.length ? '' : `${count(all.length)} of ${plural(rows.length, 'run')}`;
        redraw();
    }
    filter.addEventListener('input', show);
    which.addEventListener('change', show);
    show();
    pictures.add({ redraw });
    document.getElementById('subtitle').textContent = `${plural(rows.length, 'run')}: ${count(bad)} with findings, ${count(failed)} could not be read${above ? `, below ${above}` : ''}`;
    requestAnimationFrame(redraw);
    return el('section', { id: 'batch-part', 'aria-label': 'Runs and rules' }, el('div', { class: 'controls' }, el('label', { class: 'grow' }, 'Runs ', filter), el('label', {}, 'Show ', which)), shown, el('div', { class: 'table-box wide' }, table));
}
