/**
 * What people ask of the apps in test/fixtures/catalogs, and the bindings that answer it. Written from the use of
 * the apps, before it was known what the search makes of them; every question is searched over all connections at
 * once. The ranking was worked out with the first list; the second was looked at once, for the weight of a name.
 */
export const questions: readonly (readonly [question: string, answers: readonly string[]])[] = [
  [
    'open a new issue on GitHub',
    ['git_hub.create_issue', 'git_hub.issue_write', 'github_legacy.create_issue'],
  ],
  ['merge a pull request', ['git_hub.merge_pull_request', 'github_legacy.merge_pull_request']],
  ['which merge requests are open in gitlab', ['gitlab_zereight.list_merge_requests']],
  ['why did my CircleCI build fail', ['circleci.get_build_failure_logs']],
  ['rerun a failed CI workflow', ['circleci.rerun_workflow']],
  ['post a message in a slack channel', ['slack_legacy.slack_post_message']],
  ['read what was said in a Slack channel', ['slack_legacy.slack_get_channel_history']],
  [
    'send a text message to a phone number',
    ['twilio.twilio_api_v2010_create_message', 'azure.communication_sms_send'],
  ],
  ['send an email with outlook', ['ms365.send_mail']],
  [
    'find unread mails in my inbox',
    ['ms365.list_mail_messages', 'ms365.list_mail_folder_messages', 'gmail_mcp.search_messages'],
  ],
  [
    'what is on my google calendar tomorrow',
    ['google_calendar.list_events', 'google_calendar.daily_agenda_brief'],
  ],
  [
    'schedule a meeting in Google Calendar',
    ['google_calendar.create_event', 'google_calendar.find_and_book_meeting'],
  ],
  [
    'when are people free',
    [
      'google_calendar.get_freebusy',
      'lark.calendar_v4_freebusy_list',
      'ms365.find_meeting_times',
      'ms365.get_schedule',
    ],
  ],
  ['add a task to todoist', ['todoist.create_tasks']],
  ['finish a todoist task', ['todoist.close_tasks']],
  ['add a row to an airtable base', ['airtable.create_record']],
  ['create a page in notion', ['notion.api_post_page', 'notion_remote.notion_create_pages']],
  ['search notion', ['notion.api_post_search', 'notion_remote.notion_search', 'notion_remote.search']],
  ['refund a payment', ['stripe_local.create_refund', 'stripe_remote.create_refund']],
  [
    'cancel a customer subscription in Stripe',
    ['stripe_local.cancel_subscription', 'stripe_remote.cancel_subscription'],
  ],
  [
    'directions from one place to another',
    ['google_maps.maps_directions', 'open_street_map_osm_mcp_server.get_route_directions'],
  ],
  [
    'what will the weather be next week',
    ['weather.get_forecast', 'mcp_weather_free.get_weather', 'weather.get_weather_summary'],
  ],
  ['convert a time to another time zone', ['time.convert_time', 'time_mcp_server.convert_time']],
  [
    'read a text file',
    [
      'filesystem.read_text_file',
      'filesystem.read_file',
      'filesystem_mcp_server.read_file',
      'desktop_commander_mcp.read_file',
      'mcp_text_editor_server.get_text_file_contents',
    ],
  ],
  [
    'list the files in a directory',
    [
      'filesystem.list_directory',
      'filesystem_mcp_server.list_directory',
      'desktop_commander_mcp.list_directory',
    ],
  ],
  [
    'take a screenshot of the page',
    [
      'playwright.browser_take_screenshot',
      'chrome_devtools.take_screenshot',
      'puppeteer.puppeteer_screenshot',
      'playwright_mcp_server.playwright_screenshot',
      'playwright_mcp_server.browser_take_screenshot',
    ],
  ],
  [
    'click on a button in the browser',
    [
      'playwright.browser_click',
      'chrome_devtools.click',
      'puppeteer.puppeteer_click',
      'playwright_mcp_server.playwright_click',
      'playwright_mcp_server.browser_click',
    ],
  ],
  ['run a SQL query on supabase', ['supabase.execute_sql']],
  ['find documents in a mongodb collection', ['mongodb.find']],
  [
    'logs of a kubernetes pod',
    [
      'kubernetes_redhat.pods_log',
      'kubernetes_red_hat.pods_log',
      'kubernetes_flux.kubectl_logs',
      'kubectl_mcp_server.get_logs',
    ],
  ],
  [
    'scale a deployment',
    [
      'kubernetes_flux.kubectl_scale',
      'kubernetes_redhat.resources_scale',
      'kubernetes_red_hat.resources_scale',
      'kubectl_mcp_server.scale_deployment',
    ],
  ],
  ['create a droplet on DigitalOcean', ['digitalocean.droplet_create']],
  [
    'change the DNS records of a domain',
    [
      'hostinger.dns_update_dns_records_v1',
      'digitalocean.domain_record_edit',
      'digitalocean.domain_record_create',
    ],
  ],
  ['query prometheus metrics', ['grafana_leval.query_prometheus']],
  ['who is on call', ['grafana_leval.get_current_oncall_users']],
  [
    'turn a feature flag on',
    ['launchdarkly.update_feature_flag', 'launchdarkly.patch_feature_flag', 'launchdarkly.toggle_flag'],
  ],
  ['draw a pie chart', ['antv_chart.generate_pie_chart', 'mcp_server_chart.generate_pie_chart']],
  [
    'remember that Ada works on billing',
    [
      'memory.create_entities',
      'memory.add_observations',
      'memory.create_relations',
      'knowledge_graph.create_entities',
      'knowledge_graph.add_observations',
      'knowledge_graph_memory_server.create_entities',
      'knowledge_graph_memory_server.add_observations',
    ],
  ],
  [
    'stock price of a company',
    [
      'mcp_yahoo_finance.get_current_stock_price',
      'yahoo_finance_mcp_server.get_historical_stock_prices',
      'yahoo_finance_mcp_server.get_stock_info',
      'mcp_yahoo_finance.get_stock_price_by_date',
      'kospi_kosdaq_stock_server.get_stock_ohlcv',
    ],
  ],
  ['commit my changes with git', ['git.git_commit', 'mcp_server_git_a_git_mcp_server.git_commit']],
  ['creat a linear isue', ['linear_tacticlaunch.linear_create_issue']],
  [
    'move a card to another column in monday',
    ['monday.move_item_to_group', 'monday.change_item_column_values', 'monday.move_object'],
  ],
  ['add two numbers', ['everything.get_sum', 'calculator_mcp_server.calculate']],
  ['who am I on GitHub', ['git_hub.get_me']],
  ['leave a comment on a github issue', ['git_hub.add_issue_comment', 'github_legacy.add_issue_comment']],
  ['find code in my repositories that uses a function', ['git_hub.search_code', 'github_legacy.search_code']],
  ['star a repository', ['git_hub.star_repository']],
  [
    'show the diff of a merge request',
    [
      'gitlab_zereight.get_merge_request_diffs',
      'gitlab_zereight.get_merge_request_file_diff',
      'gitlab_zereight.list_merge_request_diffs',
    ],
  ],
  [
    'who wrote this line of the file',
    ['git.git_blame', 'git_hub.get_file_blame', 'gitlab_zereight.get_file_blame'],
  ],
  [
    'undo my local changes in git',
    [
      'git.git_reset',
      'git.git_stash',
      'git.git_checkout',
      'git.git_clean',
      'git.git_clear_working_dir',
      'mcp_server_git_a_git_mcp_server.git_reset',
      'mcp_server_git_a_git_mcp_server.git_checkout',
    ],
  ],
  ['reply in a Slack thread', ['slack_legacy.slack_reply_to_thread']],
  [
    'write to somebody in Microsoft Teams',
    ['ms365.send_chat_message', 'ms365.create_chat', 'ms365.send_channel_message'],
  ],
  [
    'what did we talk about in the meeting',
    [
      'ms365.get_meeting_transcript',
      'ms365.get_meeting_transcript_content',
      'ms365.list_meeting_transcripts',
    ],
  ],
  [
    'decline an invitation to a meeting',
    ['ms365.decline_calendar_event', 'google_calendar.respond_to_event'],
  ],
  ['forward an email to a colleague', ['ms365.forward_mail_message', 'ms365.create_forward_draft']],
  [
    'phone number of a contact in outlook',
    ['ms365.get_outlook_contact', 'ms365.list_outlook_contacts', 'ms365.list_contact_folder_contacts'],
  ],
  ['share a file on OneDrive', ['ms365.share_drive_item', 'ms365.create_drive_item_share_link']],
  [
    'read cells of a spreadsheet',
    [
      'ms365.get_excel_range',
      'ms365.get_excel_used_range',
      'excel.excel_read_sheet',
      'excel_mcp_server.excel_read_sheet',
    ],
  ],
  [
    'my overdue tasks in todoist',
    ['todoist.get_tasks_by_filter', 'todoist.get_tasks_list', 'todoist.get_tasks'],
  ],
  [
    'assign a linear issue to Ada',
    ['linear_tacticlaunch.linear_assign_issue', 'linear_tacticlaunch.linear_update_issue'],
  ],
  [
    'what is in the current sprint',
    [
      'linear_tacticlaunch.linear_get_active_cycle',
      'linear_tacticlaunch.linear_get_cycle_issues',
      'shortcut.iterations_get_active',
      'shortcut.iterations_get_stories',
      'monday.get_sprint_summary',
      'monday.get_sprints_metadata',
    ],
  ],
  ['create a story in Shortcut', ['shortcut.stories_create']],
  ['add an item to a monday board', ['monday.create_item', 'monday.create_items']],
  ['update a record in Airtable', ['airtable.update_records']],
  [
    'what columns does this table have',
    [
      'database_server.describe_table',
      'sqlite_mcp_server.describe_table',
      'airtable.describe_table',
      'neon.describe_table_schema',
      'monday.get_board_schema',
      'kusto_table_schema',
      'mongodb.collection_schema',
      'azure.kusto_table_schema',
    ],
  ],
  ['how many documents are in a mongo collection', ['mongodb.count', 'mongodb.aggregate']],
  ['make an invoice for a customer', ['stripe_local.create_invoice', 'stripe_remote.create_invoice']],
  ['how much money do I have in Stripe', ['stripe_local.retrieve_balance', 'stripe_remote.retrieve_balance']],
  [
    'find a restaurant near me',
    [
      'google_maps.maps_search_places',
      'open_street_map_osm_mcp_server.find_nearby_places',
      'open_street_map_osm_mcp_server.search_category',
    ],
  ],
  [
    'how far is it from Berlin to Munich',
    [
      'google_maps.maps_distance_matrix',
      'google_maps.maps_directions',
      'open_street_map_osm_mcp_server.get_route_directions',
    ],
  ],
  ['is there a storm warning', ['weather.get_alerts']],
  [
    'what time is it in Tokyo',
    [
      'time.current_time',
      'time_mcp_server.get_current_time',
      'time.convert_time',
      'time_mcp_server.convert_time',
      'google_calendar.get_current_time',
    ],
  ],
  ['dollars to euros', ['exchange_rate_mcp_server.exchange_rate']],
  [
    'look something up on wikipedia',
    [
      'wikipedia_mcp_server.search_wikipedia',
      'wikipedia_mcp_server.get_article',
      'wikipedia_mcp_server.get_summary',
    ],
  ],
  ['top stories on hacker news', ['hacker_news_mcp_server.get_stories']],
  [
    'papers about transformers on arxiv',
    ['ar_xiv_mcp_server.search_papers', 'mcp_simple_arxiv.search_papers'],
  ],
  ['subtitles of a youtube video', ['you_tube_transcript_server.get_transcript']],
  ['an apartment in Lisbon for two nights', ['airbnb_mcp_server.airbnb_search']],
  [
    'who owns this domain name',
    [
      'whois_mcp.whois_domain',
      'hostinger.domains_get_whois_profile_v1',
      'hostinger.domains_get_domain_details_v1',
    ],
  ],
  ['is there a vulnerability in this npm package', ['npm_sentinel_mcp.npm_vulnerabilities']],
  [
    'restart my virtual server',
    [
      'hostinger.vps_restart_virtual_machine_v1',
      'digitalocean.reboot_droplet',
      'digitalocean.droplet_action',
      'digitalocean.power_cycle_droplet',
    ],
  ],
  [
    'errors in the log of the last hour',
    [
      'grafana_leval.query_loki_logs',
      'grafana_leval.find_error_pattern_logs',
      'sentry_remote.search_events',
      'supabase.query_logs',
      'azure.monitor_workspace_log_query',
      'azure.monitor_resource_log_query',
    ],
  ],
  [
    'add a slide to my presentation',
    ['office_power_point_mcp_server.add_slide', 'mcp_okppt_server.insert_blank_slide'],
  ],
  ['replace a word in a Word document', ['office_word_mcp_server.search_and_replace']],
  [
    'fill in a form on a web page',
    [
      'playwright.browser_fill_form',
      'chrome_devtools.fill_form',
      'chrome_devtools.fill',
      'puppeteer.puppeteer_fill',
      'playwright_mcp_server.playwright_fill',
    ],
  ],
  ['scan that I got as a PDF into paperless', ['paperless.post_document']],
];

export const unseenQuestions: typeof questions = [
  ['delete a branch on gitlab', ['gitlab_zereight.delete_branch']],
  ['approve a merge request', ['gitlab_zereight.approve_merge_request']],
  ['which flaky tests do we have', ['circleci.find_flaky_tests']],
  [
    'mark all my notifications as read',
    ['git_hub.mark_all_notifications_read', 'linear_tacticlaunch.linear_mark_all_notifications_as_read'],
  ],
  ['train tickets from Beijing to Shanghai', ['_12306_mcp.get_tickets', '_12306_mcp.get_interline_tickets']],
  ['play a chess move', ['mcp_chess_server.make_move']],
  [
    'recipe for dinner tonight',
    [
      'howtocook.mcp_howtocook_what_to_eat',
      'howtocook.mcp_howtocook_recommend_meals',
      'how_to_cook_mcp_server.mcp_howtocook_what_to_eat',
      'how_to_cook_mcp_server.mcp_howtocook_recommend_meals',
      'how_to_cook_mcp_server.mcp_howtocook_get_all_recipes',
      'howtocook.mcp_howtocook_get_all_recipes',
      'howtocook.mcp_howtocook_get_recipes_by_category',
      'how_to_cook_mcp_server.mcp_howtocook_get_recipes_by_category',
    ],
  ],
  [
    'price of bitcoin',
    [
      'crypto_price_market_analysis_mcp_server.get_crypto_price',
      'asset_price_mcp_server_asset_price_mcp.get_asset_price',
    ],
  ],
  ['save this note for later', ['basic_memory.write_note']],
  ['what did I write about the roadmap in my notes', ['basic_memory.search_notes', 'basic_memory.read_note']],
  [
    'convert a word file to pdf',
    ['office_word_mcp_server.convert_to_pdf', 'simple_document_processing_mcp_server.docx_to_pdf'],
  ],
  ['merge several pdfs into one', ['simple_document_processing_mcp_server.pdf_merger']],
  ['buy shares of a company', ['zerodha_kite.place_order']],
  ['my stock portfolio', ['zerodha_kite.get_holdings', 'zerodha_kite.get_positions']],
  ['publish the website', ['webflow_remote.sites_publish']],
  ['quality gate of my project in sonar', ['sonarqube.get_project_quality_gate_status']],
  ['crashes of my app in sentry', ['sentry_remote.search_issues', 'sentry_remote.search_events']],
  ['remove a user from a group', ['okta_mcp_server.remove_user_from_group', 'ms365.remove_group_member']],
  [
    'lock the account of somebody who left',
    ['okta_mcp_server.deactivate_user', 'okta_mcp_server.suspend_user'],
  ],
  ['send an email from gmail', ['gmail_mcp.send_message']],
  ['call a phone number', ['twilio.twilio_api_v2010_create_call']],
  [
    'list my postgres tables',
    ['database_server.list_tables', 'supabase.list_tables', 'neon.get_database_tables'],
  ],
  ['start a docker container', ['docker_mcp.create_container', 'docker_mcp.deploy_compose']],
  ['design of a screen in figma', ['figma_framelink.get_figma_data']],
  ['random number between 1 and 10', ['random_number_mcp.random_int', 'random_number_mcp.secure_random_int']],
  ['run some python code', ['code_runner.run_code']],
  ['check my javascript files for lint errors', ['eslint.lint_files']],
  [
    'documentation of a library',
    [
      'context7.query_docs',
      'context7.resolve_library_id',
      'context_7_mcp_up_to_date_code_docs_for_any_prompt.get_library_docs',
      'context7_mcp_up_to_date_code_docs_for_any_prompt.get_library_docs',
      'context7_mcp_up_to_date_code_docs_for_any_prompt.resolve_library_id',
    ],
  ],
  [
    'create an event for lunch with Bob',
    [
      'google_calendar.create_event',
      'ms365.create_calendar_event',
      'lark.calendar_v4_calendar_event_create',
      'ms365.create_specific_calendar_event',
    ],
  ],
  [
    'which alert rules are there in grafana',
    ['grafana_leval.list_alert_rules', 'grafana_leval.get_alert_rule_by_uid'],
  ],
];
