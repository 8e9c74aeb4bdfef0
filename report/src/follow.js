// A page of a job that goes on is read again from its file, now and then: a page from file:// may load nothing else.  What is
// looked at stands in the address, and is the same afterwards.
import { el } from './dom.js';
import { remember, state } from './state.js';

export function followPage(facts) {
    const from = remember('scroll');
    if (from) {
        remember('scroll', '');
        history.scrollRestoration = 'manual';
        scrollTo(0, Number(from));
    }
    if (!facts.lookAgain) return;
    const live = document.getElementById('live');
    const seconds = facts.lookAgain;
    let paused = remember('paused') === '1';
    const text = el('span', {});
    const button = el('button', { type: 'button' });
    const show = () => {
        text.textContent = paused ? 'paused' : `growing: read again every ${seconds} s`;
        button.textContent = paused ? 'Go on' : 'Pause';
        live.dataset.paused = paused ? '1' : '';
    };
    button.addEventListener('click', () => {
        paused = !paused;
        remember('paused', paused ? '1' : '');
        show();
    });
    live.append(el('i', { class: 'dot' }), text, button);
    live.hidden = false;
    show();
    setInterval(() => {
        // Not under someone's hands.
        const typing = document.activeElement && /^(INPUT|SELECT)$/.test(document.activeElement.tagName);
        if (paused || typing || document.hidden) return;
        remember('scroll', String(scrollY));
        remember('run', String(state.run)); // another one may have most findings then
        location.reload();
    }, seconds * 1000);
}
